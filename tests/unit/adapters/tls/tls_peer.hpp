#pragma once
// A TLS client in memory, strict about certificates, and a folder that is gone after the test.
#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <vector>

#include "adapters/tls/interceptor.hpp"

namespace opid::test {

// The clock of these tests; verification looks at it, too.
inline const Instant noon = from_unix_ms(1'796'040'000'000);  // 2026-11-30 12:00 UTC
inline constexpr auto one_hour = std::chrono::minutes(60);
inline constexpr auto one_day = std::chrono::hours(24);

struct Folder {
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string file(const std::string& name) const { return path + "/" + name; }
    std::vector<std::string> names() const;  // sorted
    std::string path;
};
std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& text);
unsigned mode_of(const std::string& path);

using SessionPtr = std::shared_ptr<SSL_SESSION>;

struct Client {
    std::string trusted;  // PEM
    std::string host;     // SNI and the name to verify
    bool is_ip = false;   // no SNI; verified as address
    std::vector<std::string> alpn;
    int max_version = TLS1_3_VERSION;
    Instant now = noon;
    SessionPtr resume;

    std::string hello() const;  // the first flight alone
};

struct Meeting {
    bool done = false;
    std::string error;  // the client's reason, else the server's
    bool resumed = false;
    std::string version;
    std::string alpn;  // empty: none in the server's answer
    CertificatePtr leaf;
    SessionPtr session;  // to resume; null: no ticket came
};
// Runs the handshake and one exchange of data in both directions.
Meeting meet(const Client& client, SSL* server);

}  // namespace opid::test
