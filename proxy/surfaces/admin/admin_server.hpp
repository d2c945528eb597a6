#pragma once
// Carries the admin API over HTTP/1.1: one thread, bounded connections, heads and bodies, a deadline on everything.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "surfaces/admin/admin_api.hpp"

namespace opid {

struct AdminServerOptions {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;  // 0: any
    std::uint64_t body_max = 1u << 20;
    std::size_t connections_max = 256;
    std::size_t event_clients_max = 64;
    Millis request_timeout{30000};  // a head and body to arrive, an answer to leave
    Millis heartbeat{15000};        // of event streams
};

class AdminServer {
public:
    // `api` and `timers` outlive this. The context of the server outlives the store (its destructor posts here), so
    // destroy the store first.
    AdminServer(AdminServerOptions options, AdminApi& api, EventFeed& events, Timers& timers);
    ~AdminServer();
    AdminServer(const AdminServer&) = delete;
    AdminServer& operator=(const AdminServer&) = delete;

    // Binds. Error (unavailable): names the address. From here on connections queue.
    Result<AdminAddress> bind();
    // Serves until stop(); on the caller's thread.
    void run();
    void stop();  // any thread

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace opid
