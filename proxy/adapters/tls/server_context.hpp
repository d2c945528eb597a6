#pragma once
// What all intercepted TLS sessions under one authority share: versions, ciphers, ALPN, the leaf key, the ticket keys.
#include <memory>

#include "adapters/tls/certificate_authority.hpp"

struct ssl_ctx_st;

namespace opid {

using ServerContextPtr = std::shared_ptr<ssl_ctx_st>;

// Its ticket keys are random and its own: no session outlives it. Thread-safe once made.
Result<ServerContextPtr> make_server_context(const PrivateKeyPtr& leaf_key);

}  // namespace opid
