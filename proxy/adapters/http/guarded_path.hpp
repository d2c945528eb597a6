#pragma once
// One request to a host with a profile: read or write, allowed or not, named or not; a guarded write is read whole,
// bound and handed to the engine, everything else is left to the relay.
#include <memory>
#include <optional>
#include <string>

#include "adapters/http/guarded_request.hpp"
#include "adapters/http/io_shard.hpp"

namespace opid {

class GuardedPath {
public:
    GuardedPath(IoShard& shard, Stream& client, Scratch& scratch, const Route& route, std::string tenant,
                std::string_view peer);
    ~GuardedPath();  // what follows the request is back in scratch.in; views of the head die
    GuardedPath(const GuardedPath&) = delete;
    GuardedPath& operator=(const GuardedPath&) = delete;

    struct End {
        enum class Kind : std::uint8_t {
            answered,  // written; `keep` says whether the connection goes on
            problem,   // to be answered by the caller of this
            relay,     // to be relayed; `body` is the whole body where it was read already
        };
        Kind kind = Kind::answered;
        bool keep = false;
        bool body_unread = false;
        Problem problem;
        ProblemDialect dialect = ProblemDialect::problem;
        std::string jsonrpc_id;
        std::optional<std::string_view> body;  // valid while the path lives
    };
    Task<End> run();

private:
    End problem(ProblemKind kind, std::string detail);
    std::string named_by_header() const;
    void look_into_body();
    void leave_body();
    End relay();
    std::optional<End> check_rule();
    std::optional<End> check_identity();
    Task<std::optional<End>> read_body();
    std::optional<End> body_problem(const Error& error);
    Task<std::optional<End>> name_by_step();
    GuardedWrite make_write();
    Task<End> execute();

    IoShard& shard_;
    Stream& client_;
    Scratch& s_;
    const Route& route_;
    std::string tenant_;
    std::string_view peer_;
    BodySpool spool_;
    Buffer through_;  // the body is read through a block of its own: views of the head stay valid
    bool through_used_ = false;
    std::string_view body_;
    std::string decoded_;
    Result<std::string_view> content_{std::string_view()};  // what rules look into; from look_into_body() on
    bool body_read_ = false;
    bool close_ = false;
    MatchedRule matched_;
    RequestIdentity identity_;
};

}  // namespace opid
