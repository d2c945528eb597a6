#pragma once
// Counters of one I/O thread: written by it alone, read by anybody.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/answer/problem.hpp"

namespace opid {

class Counter {
public:
    void add(std::uint64_t count = 1) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    }
    void subtract(std::uint64_t count = 1) noexcept {
        value_.store(value_.load(std::memory_order_relaxed) - count, std::memory_order_relaxed);
    }
    std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

inline constexpr std::size_t problem_kinds = static_cast<std::size_t>(ProblemKind::version) + 1;

struct DataPlaneMetrics {
    Counter connections_accepted;
    Counter connections_open;
    Counter connections_refused;  // over the bound
    Counter requests;
    Counter guarded;
    Counter passed_through;
    Counter tunnels_opened;
    Counter tunnels_open;
    Counter tls_intercepted;        // handshakes with clients
    Counter tls_handshakes_failed;  // by the client: most often it doesn't trust the CA
    Counter tls_refused;            // never begun: names that disagree, malformed, no HTTP/1.1
    Counter profile_tunnels_blind;  // to a profile's host, unseen: its writes are not guarded
    Counter bytes_to_upstream;      // of pass-through and tunnels
    Counter bytes_to_client;
    Counter upstream_connects;
    Counter upstream_connect_failures;
    Counter upstream_reuses;
    Counter upstream_retries;                     // reads sent again after a stale connection
    Counter clients_gone;                         // left before their answer
    Counter answers_cut;                          // relayed answers that ended early
    std::array<Counter, problem_kinds> problems;  // by ProblemKind
};

}  // namespace opid
