#include "adapters/net/tls_contexts.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

namespace opid {

namespace {

Error unusable(const std::string& file, const char* what) {
    ERR_clear_error();
    return {ErrorKind::unavailable, std::string(what) + " " + file + " can't be read or isn't PEM that fits"};
}

Result<TlsContextPtr> make_context(const std::string& ca_bundle, const UpstreamTls& tls) {
    TlsContextPtr context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    if (!context) return Error(ErrorKind::unavailable, "no memory for a TLS context");
    SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_mode(context.get(),
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    static constexpr unsigned char alpn[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    SSL_CTX_set_alpn_protos(context.get(), alpn, sizeof alpn);

    const bool roots = ca_bundle.empty()
                           ? SSL_CTX_set_default_verify_paths(context.get()) == 1
                           : SSL_CTX_load_verify_locations(context.get(), ca_bundle.c_str(), nullptr) == 1;
    if (!roots) return unusable(ca_bundle, "the file of root certificates");
    if (!tls.ca_file.empty() && SSL_CTX_load_verify_locations(context.get(), tls.ca_file.c_str(), nullptr) != 1) {
        return unusable(tls.ca_file, "tls.ca");
    }
    if (!tls.client_certificate_file.empty()) {
        const char* const file = tls.client_certificate_file.c_str();
        if (SSL_CTX_use_certificate_chain_file(context.get(), file) != 1 ||
            SSL_CTX_use_PrivateKey_file(context.get(), file, SSL_FILETYPE_PEM) != 1 ||
            SSL_CTX_check_private_key(context.get()) != 1) {
            return unusable(tls.client_certificate_file, "tls.client_certificate");
        }
    }
    ERR_clear_error();
    return context;
}

}  // namespace

TlsContexts::TlsContexts(std::string ca_bundle) : ca_bundle_(std::move(ca_bundle)) {}

Result<TlsContextPtr> TlsContexts::context_for(const UpstreamTls& tls) {
    const std::lock_guard lock(mutex_);  // held while files are read: once a profile, and nobody reads them twice
    const std::pair<std::string, std::string> key(tls.ca_file, tls.client_certificate_file);
    const auto known = contexts_.find(key);
    if (known != contexts_.end()) return known->second;
    Result<TlsContextPtr> made = make_context(ca_bundle_, tls);
    if (made) contexts_.emplace(key, *made);
    return made;
}

void TlsContexts::forget() {
    const std::lock_guard lock(mutex_);
    contexts_.clear();
}

}  // namespace opid
