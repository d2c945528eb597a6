#pragma once
// What the data plane is told at its start: plain values, made from the settings by app.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "adapters/net/egress_policy.hpp"
#include "base/sha256.hpp"
#include "base/time.hpp"
#include "core/http/head_limits.hpp"

namespace opid {

struct TenantCredentials {
    std::string name;
    std::vector<Digest> tokens;  // SHA-256 of each; several while rotating
};

struct DataPlaneLimits {
    http::HeadLimits head;
    std::uint64_t request_body = 16ull << 20;       // of guarded writes
    std::uint64_t decoded_body = 64ull << 20;       // what is looked into of one with a content coding
    std::uint64_t memory_body = 1ull << 20;         // larger ones are spooled to disk
    std::uint64_t stored_response = 1ull << 20;     // larger ones stream to the caller while they are recorded
    std::uint64_t bodies_in_flight = 512ull << 20;  // in memory, of all guarded requests together
    std::uint64_t spooled_bodies = 4ull << 30;      // on disk, likewise
    std::size_t upstream_idle = 512;                // connections that rest, for one origin; shared out to the threads
    std::size_t connections = 20'000;
    std::size_t guarded_in_flight = 4096;
};

// What becomes of a client that speaks HTTP/2 alone (gRPC) to a profile's host: opid reads HTTP/1.1.
enum class H2Only : std::uint8_t { blind, refuse };

struct DataPlaneTimeouts {
    Millis head{30'000};
    Millis idle{120'000};
    Millis body_stall{30'000};
    Millis write_stall{120'000};  // a peer that takes nothing
    Millis linger{1'000};         // draining an unread request after the answer
    Millis sniff{2'000};          // until a tunnel's first bytes tell what it is
    Millis tls{5'000};            // a client's handshake
    Millis drain{30'000};
};

struct DataPlaneOptions {
    AddressAndPort proxy;                                           // forward and reverse; port 0: any
    std::vector<std::pair<std::string, AddressAndPort>> providers;  // a reverse port of its own each
    std::vector<TenantCredentials> tenants;                         // none: the tenant "default", loopback callers only
    H2Only h2_only = H2Only::blind;
    std::string via = "opid";     // pseudonym; empty: no Via
    std::string spool_directory;  // made when missing; files in it have no name
    std::size_t threads = 0;      // 0: as many as cores
    DataPlaneLimits limits;
    DataPlaneTimeouts timeouts;
};

}  // namespace opid
