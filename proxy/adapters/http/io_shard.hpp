#pragma once
// One I/O thread: its io_context and everything that only it touches. And what all threads share.
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/http/body_reader.hpp"
#include "adapters/http/body_spool.hpp"
#include "adapters/http/data_plane.hpp"
#include "adapters/http/routing.hpp"
#include "adapters/http/tenant_gate.hpp"
#include "adapters/net/connection_pool.hpp"
#include "adapters/net/task_group.hpp"
#include "core/http/request_head.hpp"
#include "core/http/response_head.hpp"

namespace opid {

// Of all I/O threads.
struct SharedPlane {
    SharedPlane(DataPlaneOptions options_in, DataPlaneParts parts_in)
        : options(std::move(options_in)),
          parts(std::move(parts_in)),
          tenants(options.tenants),
          bodies(options.limits.bodies_in_flight),
          spooled(options.limits.spooled_bodies) {}
    const DataPlaneOptions options;
    const DataPlaneParts parts;
    const TenantGate tenants;
    BodyBudget bodies;   // in memory
    BodyBudget spooled;  // on disk
    std::atomic<std::size_t> connections{0};
    std::atomic<std::size_t> exchanges{0};  // connections that are neither idle nor tunnels
    std::atomic<std::size_t> guarded{0};
    std::atomic<bool> draining{false};
};

// What a request needs while it is worked on; back on the shelf while its connection is idle.
struct Scratch {
    explicit Scratch(const http::HeadLimits& limits)
        : request_body(http::MessageSide::request, limits),
          response_body(http::MessageSide::response, limits) {}
    Buffer in;           // from the client
    Buffer up;           // from upstream
    std::string out;     // towards upstream
    std::string answer;  // towards the client
    http::RequestHead request;
    http::ResponseHead response;
    http::HeadProgress progress;
    BodyReader request_body;
    BodyReader response_body;
    http::FieldList extra;
    std::vector<std::string_view> drop;
};
using ScratchPtr = std::unique_ptr<Scratch>;

class IoShard;

// A link in the shard's list of connections.
class ShardMember {
public:
    explicit ShardMember(IoShard& shard);
    virtual ~ShardMember();
    ShardMember(const ShardMember&) = delete;
    ShardMember& operator=(const ShardMember&) = delete;
    virtual void drain() noexcept = 0;  // end now if idle

protected:
    IoShard& shard_;

private:
    friend class IoShard;
    ShardMember* previous_ = nullptr;
    ShardMember* next_ = nullptr;
};

class IoShard {
public:
    explicit IoShard(SharedPlane& shared);
    ~IoShard();
    IoShard(const IoShard&) = delete;
    IoShard& operator=(const IoShard&) = delete;

    ScratchPtr take_scratch();
    void give_scratch(ScratchPtr scratch);
    const ProfileSet& profiles();  // the newest set; valid until the next call
    std::uint64_t profile_generation() const { return generation_; }
    std::string_view date();  // IMF-fixdate of now
    void count(ProblemKind kind) { metrics.problems[static_cast<std::size_t>(kind)].add(); }
    void drain_members() noexcept;
    bool draining() const { return shared.draining.load(std::memory_order_relaxed); }

    SharedPlane& shared;
    DataPlaneMetrics metrics;
    BufferPool buffers;
    std::size_t warm = 0;  // connections that rest with their buffers

private:
    friend class ShardMember;
    ShardMember* members_ = nullptr;
    std::vector<ScratchPtr> scratches_;
    ProfileSetPtr profiles_;
    std::uint64_t generation_ = 0;
    std::int64_t date_second_ = -1;
    std::array<char, 29> date_{};

public:
    // Last: coroutines that are left when it goes still use what is above.
    boost::asio::io_context context{1};
    Deadlines& deadlines{deadlines_of(context)};
    ConnectionPool& pool{pool_of(context)};
};

// Writes all pieces; false: the peer is gone, takes nothing, or `*stop` was set (and the stream cancelled) meanwhile.
using Pieces = std::array<std::string_view, 4>;
Task<bool> write_pieces(IoShard& shard, Stream& stream, Pieces pieces, const bool* stop = nullptr);
Task<bool> write_all(IoShard& shard, Stream& stream, std::string_view bytes);

// Answers and lets go of a client that sends more than we read (RFC 9112 section 9.6).
Task<> linger(IoShard& shard, Stream& stream);

}  // namespace opid
