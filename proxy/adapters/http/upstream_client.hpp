#pragma once
// Sends guarded writes and look-ups over HTTP/1.1. Works on whichever io_context awaits it, with that one's pool.
#include <atomic>
#include <cstdint>
#include <string>

#include "adapters/net/connection_pool.hpp"
#include "adapters/net/outbound.hpp"
#include "core/http/head_limits.hpp"
#include "engine/ports/upstream.hpp"

namespace opid {

class UpstreamClient final : public Upstream {
public:
    // A connection that rested longer than this is not trusted with a write: its origin may be closing it now.
    static constexpr Millis rest_max{1000};

    // `outbound` outlives this.
    UpstreamClient(Outbound& outbound, http::HeadLimits limits) : outbound_(outbound), limits_(limits) {}

    Task<Exchange> send(const OutboundRequest& request, ResponseSink* sink) override;
    Task<Exchange> look_up(const LookUpRequest& request) override;

    struct Counts {
        std::uint64_t connects = 0;
        std::uint64_t failures = 0;
        std::uint64_t reuses = 0;
    };
    Counts counts() const {
        return {connects_.load(std::memory_order_relaxed), failures_.load(std::memory_order_relaxed),
                reuses_.load(std::memory_order_relaxed)};
    }

    // Connections made before this are not used again.
    void profiles_changed() { generation_.fetch_add(1, std::memory_order_relaxed); }

private:
    class Sending;
    Outbound& outbound_;
    http::HeadLimits limits_;
    std::atomic<std::uint64_t> generation_{1};
    std::atomic<std::uint64_t> connects_{0};
    std::atomic<std::uint64_t> failures_{0};
    std::atomic<std::uint64_t> reuses_{0};
};

}  // namespace opid
