#pragma once
// One client connection from its first byte to its last: reads heads, finds out where each request goes, and lets the
// relay, the guarded path or a tunnel do the rest. Requests are answered in order, one at a time.
#include <optional>
#include <string>

#include "adapters/http/guarded_path.hpp"
#include "adapters/http/io_shard.hpp"
#include "adapters/http/relay.hpp"

namespace opid {

class ProxyConnection final : public ShardMember {
public:
    ProxyConnection(IoShard& shard, Stream client, const Stream::Endpoint& peer, const Listening& listening);
    ~ProxyConnection() override = default;

    Task<> serve();
    void drain() noexcept override;

private:
    // How a request left the connection.
    struct Served {
        bool keep = false;
        bool body_unread = false;
    };

    enum class Rest : std::uint8_t { bytes, quiet, over };
    Task<Rest> read_while_warm();
    Task<bool> wait_while_idle();
    Task<std::optional<Served>> read_head();  // a value: it was answered, or the connection is over
    Task<Served> serve_request();
    Task<Served> relay(const Route& route, std::optional<std::string_view> body);
    Task<Served> serve_profile(const Route& route, std::string tenant);
    Task<Served> serve_echo();
    Task<Served> open_tunnel(const Route& route, std::string tenant);
    Task<Served> intercept(const Route& route, std::string tenant);
    Task<Served> tunnel_blind(const Origin& origin, bool opened);
    std::optional<std::string> tenant_of_request() const;
    Task<Served> tell(Problem problem, bool keep, ProblemDialect dialect = ProblemDialect::problem,
                      std::string jsonrpc_id = {});
    Task<Served> tell_local();
    Task<Served> send(const Answer& answer, bool keep);
    const Route& find_route();
    void log_entry(const http::Authority& place, std::string_view what) const;
    bool skip_buffered_body();
    std::optional<Problem> check_head() const;

    Stream client_;
    const Listening& listening_;
    bool loopback_ = false;
    bool idle_ = false;
    bool used_ = false;       // a request was served
    bool head_only_ = false;  // this one is HEAD; kept, since a streaming body overwrites the head
    StreamDeadline deadline_;
    ScratchPtr scratch_;
    std::string peer_;
    std::string max_forwards_;
    // Behind a CONNECT that opid reads: where it leads, and whose it is.
    struct Entered {
        Inside inside;
        std::string tenant;
    };
    std::unique_ptr<Entered> entered_;
    std::unique_ptr<Route> route_;  // of the last request; the next one often goes to the same place
    std::string route_authority_;
    std::uint64_t route_generation_ = 0;
    bool route_reusable_ = false;
};

Task<> run_connection(IoShard& shard, Stream::Socket socket, Stream::Endpoint peer, const Listening& listening);

}  // namespace opid
