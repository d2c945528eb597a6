#pragma once
// Client contexts, shared: the system's roots are read once, a profile's extra CA and client certificate once a
// profile. Verification can't be switched off; TLS 1.2 or later; ALPN offers http/1.1 alone.
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "adapters/net/tls_session.hpp"
#include "base/result.hpp"
#include "core/profile/profile.hpp"

namespace opid {

// Thread-safe.
class TlsContexts {
public:
    // `ca_bundle`: a PEM file in place of the system's roots; empty: the system's.
    explicit TlsContexts(std::string ca_bundle = {});

    // Error (unavailable): a file can't be read or doesn't fit; the text names it.
    Result<TlsContextPtr> context_for(const UpstreamTls& tls);
    void forget();  // files are read again: after a reload of profiles

private:
    std::string ca_bundle_;
    std::mutex mutex_;
    std::map<std::pair<std::string, std::string>, TlsContextPtr> contexts_;
};

}  // namespace opid
