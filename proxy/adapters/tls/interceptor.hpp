#pragma once
// TLS server sessions under the name of a provider: one shared context, one shared leaf key, and a bounded cache of
// leaves. A leaf is minted once however many ask for it at the same time.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "adapters/tls/certificate_authority.hpp"

struct ssl_st;

namespace opid {

struct SslFree {
    void operator()(ssl_st* ssl) const noexcept;
};
using SslPtr = std::unique_ptr<ssl_st, SslFree>;

struct InterceptorOptions {
    std::size_t certificates_max = 1024;  // the least recently used leaf goes first
    std::function<Instant()> now;         // wall clock, for validity
};

struct InterceptorCounts {
    std::uint64_t minted = 0;
    std::uint64_t from_cache = 0;
    std::uint64_t evicted = 0;
    std::size_t kept = 0;
};

// Thread-safe.
class Interceptor {
public:
    static Result<std::unique_ptr<Interceptor>> make(std::shared_ptr<const CertificateAuthority> authority,
                                                     InterceptorOptions options);
    ~Interceptor();
    Interceptor(const Interceptor&) = delete;
    Interceptor& operator=(const Interceptor&) = delete;

    // A session in accept state that presents a leaf for `host` (canonical; is_ip: an address): TLS 1.2 and 1.3, no
    // early data, ALPN http/1.1 where the client offers it and none else, resumption for the same host and authority
    // only. The caller sets its BIOs. Only for hosts that a profile covers: the caller checks that. invalid: no
    // certificate is made for such a name, or the CA has expired.
    Result<SslPtr> session_for(const std::string& host, bool is_ip);

    void replace_authority(std::shared_ptr<const CertificateAuthority> authority);  // old leaves and tickets die
    std::shared_ptr<const CertificateAuthority> authority() const;
    InterceptorCounts counts() const;

private:
    struct State;
    explicit Interceptor(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace opid
