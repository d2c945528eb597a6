#include "adapters/tls/server_context.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <string_view>

namespace opid {
namespace {

// TLS 1.2: forward secrecy, authenticated encryption, and the P-256 leaf key. TLS 1.3 has none but such.
constexpr const char* ciphers_of_tls12 =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305";
constexpr std::string_view http11 = "http/1.1";

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* chosen_size, const unsigned char* offered,
                    unsigned int offered_size, void*) {
    std::string_view rest(reinterpret_cast<const char*>(offered), offered_size);
    while (!rest.empty()) {
        const std::size_t size = static_cast<unsigned char>(rest.front());
        const std::string_view name = rest.substr(1, size);
        if (name == http11) {
            *chosen = reinterpret_cast<const unsigned char*>(name.data());
            *chosen_size = static_cast<unsigned char>(name.size());
            return SSL_TLSEXT_ERR_OK;
        }
        rest.remove_prefix(1 + name.size());
    }
    return SSL_TLSEXT_ERR_NOACK;  // HTTP/1.1 is spoken anyway; who can't is told apart by the ClientHello before
}

}  // namespace

Result<ServerContextPtr> make_server_context(const PrivateKeyPtr& leaf_key) {
    const ServerContextPtr context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
    SSL_CTX* const raw = context.get();
    if (raw == nullptr || SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION) != 1 ||
        SSL_CTX_set_cipher_list(raw, ciphers_of_tls12) != 1 || SSL_CTX_use_PrivateKey(raw, leaf_key.get()) != 1 ||
        SSL_CTX_set_max_early_data(raw, 0) != 1 || SSL_CTX_set_recv_max_early_data(raw, 0) != 1) {
        ERR_clear_error();
        return Error(ErrorKind::internal, "no context for TLS servers can be made");
    }
    SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    // NO_AUTO_CHAIN: without it every handshake would look for the leaf's issuers in an empty store.
    SSL_CTX_set_mode(raw, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_read_ahead(raw, 0);
    SSL_CTX_set_verify(raw, SSL_VERIFY_NONE, nullptr);
    SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);  // sessions live in the clients' tickets alone
    SSL_CTX_set_alpn_select_cb(raw, choose_protocol, nullptr);
    return context;
}

}  // namespace opid
