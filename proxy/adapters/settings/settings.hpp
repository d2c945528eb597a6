#pragma once
// The configuration of a proxy as a plain value: config/opid.yaml after all checks. Defaults are those of a file
// that says nothing.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/secret.hpp"
#include "base/time.hpp"

namespace opid {

struct HostPort {
    std::string host = "127.0.0.1";  // canonical; IPv6 without brackets
    std::uint16_t port = 0;          // 0: the system picks one
    std::string to_string() const;
    friend bool operator==(const HostPort&, const HostPort&) = default;
};

struct ListenSettings {
    HostPort proxy{"127.0.0.1", 8080};
    std::vector<std::pair<std::string, HostPort>> providers;  // provider name, its own reverse port
    HostPort admin{"127.0.0.1", 8081};
};

enum class StoreEngine : std::uint8_t { rocksdb, postgres };
struct StoreSettings {
    StoreEngine engine = StoreEngine::rocksdb;
    Secret dsn;  // postgres only
};

struct TenantSettings {
    std::string name;
    std::vector<Secret> tokens;  // at least one; several while rotating
};

// Bytes unless the name says otherwise.
struct LimitSettings {
    std::uint64_t request_body = 16ull << 20;    // guarded bodies; more is 413
    std::uint64_t memory_body = 1ull << 20;      // above this a body spools to disk
    std::uint64_t decoded_body = 64ull << 20;    // decoded size above which a body is compared as raw bytes
    std::uint64_t stored_response = 1ull << 20;  // answers above this stream through while they are recorded
    std::uint64_t kept_response = 16ull << 20;   // answers above this leave status, headers, length and digest
    std::uint64_t body_memory = 256ull << 20;    // of all buffered bodies together
    std::uint64_t spool = 4ull << 30;            // of all spooled bodies together
    std::uint64_t head = 60ull << 10;
    std::uint64_t fields = 512;  // count
    std::uint64_t target = 16ull << 10;
    std::uint64_t chunk_extensions = 8ull << 10;  // of one chunk
    std::uint64_t trailers = 60ull << 10;         // as head where not given
    std::uint64_t interim = 32;                   // count of 1xx before a final answer
    std::uint64_t connections = 4096;             // count, of clients
    std::uint64_t guarded = 1024;                 // count of guarded writes at a time
    std::uint64_t waiters = 256;                  // count, joiners of one operation
    std::uint64_t upstream_idle = 512;            // count of idle connections kept for one origin
    std::uint64_t certificates = 1024;            // count of minted certificates kept
    std::uint64_t store_queue = 4096;             // count of commits that wait
    std::uint64_t disk_reserve = 512ull << 20;    // free space below which no new write is taken
    std::uint64_t admin_body = 1ull << 20;
    std::uint64_t events = 64;  // count of event-stream clients of the admin API
};

struct TimeoutSettings {
    Millis connect{5000};
    Millis tls{5000};
    Millis upstream_response{60000};  // of guarded writes, until the whole answer is there
    Millis recovery{20000};           // the ladder inside a caller's own request
    Millis wait{30000};               // joiners of a running attempt
    Millis wait_max{300000};          // most that Operation-Wait may ask for
    Millis lease{15000};
    Millis store{5000};
    Millis drain{30000};
    Millis head{30000};
    Millis idle{120000};
    Millis body_stall{30000};
    Millis sniff{2000};
    Millis sweep{10000};  // how often open operations are looked through
};

struct RetentionSettings {
    Millis records{30ll * 86400000};
    Millis tombstones{400ll * 86400000};
};

struct EgressSettings {
    std::vector<std::string> deny{"private", "metadata"};  // CIDR, host pattern, or class
    std::vector<std::string> allow;
    std::vector<std::pair<std::string, std::string>> resolve;  // "name:443" to "127.0.0.1:9443"
};

// A client that speaks HTTP/2 alone to a profile's host: its tunnel is relayed unseen, or refused.
enum class H2OnlyClients : std::uint8_t { blind, refuse };
struct InterceptionSettings {
    H2OnlyClients h2_only = H2OnlyClients::blind;
};

enum class AdminRole : std::uint8_t { viewer, approver, operator_ };
struct AdminToken {
    std::string name;
    AdminRole role = AdminRole::viewer;
    Secret token;
};

enum class ApprovalAlgorithm : std::uint8_t { eddsa, hs256 };
struct ApprovalKey {
    std::string id;  // `kid` of the token's header
    ApprovalAlgorithm algorithm = ApprovalAlgorithm::eddsa;
    Secret key;            // eddsa: public key, PEM or base64url; hs256: the shared secret
    std::string approver;  // who signs with it; the id where not given
};

enum class LogLevel : std::uint8_t { debug, info, warning, error };
enum class LogFormat : std::uint8_t { json, text };

struct Settings {
    ListenSettings listen;
    std::string data = "./data";  // relative to the working directory
    StoreSettings store;
    std::vector<std::string> policies{"policies"};  // files and folders that are there, in order
    std::vector<TenantSettings> tenants;            // empty: tenant "default", loopback callers only
    LimitSettings limits;
    TimeoutSettings timeouts;
    RetentionSettings retention;
    EgressSettings egress;
    InterceptionSettings interception;
    std::vector<AdminToken> admin_tokens;
    std::vector<ApprovalKey> approval_keys;
    std::string via = "opid";  // pseudonym; empty: off
    LogLevel log_level = LogLevel::info;
    LogFormat log_format = LogFormat::json;
    std::uint32_t threads = 0;  // 0: one a core
    std::string node;           // empty: the host's name
    std::string file;           // where it was read from; empty: defaults
};

std::string_view to_word(StoreEngine engine);
std::string_view to_word(AdminRole role);
std::string_view to_word(LogLevel level);
std::string_view to_word(LogFormat format);

}  // namespace opid
