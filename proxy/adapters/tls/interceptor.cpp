#include "adapters/tls/interceptor.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <mutex>
#include <utility>

#include "adapters/tls/leaf_cache.hpp"
#include "adapters/tls/server_context.hpp"
#include "base/invariant.hpp"
#include "base/sha256.hpp"

namespace opid {
namespace {

// A name and an address that looks like it never share a leaf or a session.
std::string name_of(const std::string& host, bool is_ip) { return (is_ip ? "ip:" : "dns:") + host; }

Result<SslPtr> make_session(const ServerContextPtr& context, const CertificatePtr& leaf, const std::string& name) {
    SslPtr ssl(SSL_new(context.get()));
    const Digest id = sha256(name);  // a ticket for one host is worth nothing at another
    if (!ssl || SSL_use_certificate(ssl.get(), leaf.get()) != 1 ||
        SSL_set_session_id_context(ssl.get(), id.data(), static_cast<unsigned int>(id.size())) != 1) {
        ERR_clear_error();
        return Error(ErrorKind::unavailable, "no TLS session can be made: no memory");
    }
    SSL_set_accept_state(ssl.get());
    return ssl;
}

}  // namespace

void SslFree::operator()(ssl_st* ssl) const noexcept { SSL_free(ssl); }

struct Interceptor::State {
    State(std::shared_ptr<const CertificateAuthority> ca, InterceptorOptions wanted, PrivateKeyPtr key)
        : authority(std::move(ca)),
          now(std::move(wanted.now)),
          leaf_key(std::move(key)),
          leaves(wanted.certificates_max) {}

    struct Parts {
        ServerContextPtr context;
        CertificatePtr leaf;
    };
    // Minting happens under the lock, some tenths of a millisecond: whoever asks meanwhile finds the leaf.
    Result<Parts> parts_for(const std::string& host, bool is_ip, const std::string& name) {
        const Instant at = now();
        const std::lock_guard lock(mutex);
        if (!context) {
            Result<ServerContextPtr> made = make_server_context(leaf_key);
            if (!made) return made.error();
            context = std::move(*made);
        }
        if (CertificatePtr known = leaves.find(name, at)) {
            ++counts.from_cache;
            return Parts{context, std::move(known)};
        }
        const Result<Leaf> leaf = authority->mint(host, is_ip, leaf_key, at);
        if (!leaf) return leaf.error();
        ++counts.minted;
        if (leaves.put(name, *leaf)) ++counts.evicted;
        return Parts{context, leaf->certificate};
    }

    mutable std::mutex mutex;
    std::shared_ptr<const CertificateAuthority> authority;
    const std::function<Instant()> now;
    const PrivateKeyPtr leaf_key;
    ServerContextPtr context;  // null after a change of authority, until it is asked for
    LeafCache leaves;
    InterceptorCounts counts;
};

Result<std::unique_ptr<Interceptor>> Interceptor::make(std::shared_ptr<const CertificateAuthority> authority,
                                                       InterceptorOptions options) {
    OPID_INVARIANT(authority != nullptr && options.now);
    Result<PrivateKeyPtr> key = make_p256_key();
    if (!key) return key.error();
    auto state = std::make_unique<State>(std::move(authority), std::move(options), *key);
    Result<ServerContextPtr> context = make_server_context(*key);
    if (!context) return context.error();
    state->context = std::move(*context);
    return std::unique_ptr<Interceptor>(new Interceptor(std::move(state)));
}

Interceptor::Interceptor(std::unique_ptr<State> state) : state_(std::move(state)) {}
Interceptor::~Interceptor() = default;

Result<SslPtr> Interceptor::session_for(const std::string& host, bool is_ip) {
    const std::string name = name_of(host, is_ip);
    const Result<State::Parts> parts = state_->parts_for(host, is_ip, name);
    if (!parts) return parts.error();
    return make_session(parts->context, parts->leaf, name);
}

// The context dies with the sessions that still use it, and its ticket keys with it.
void Interceptor::replace_authority(std::shared_ptr<const CertificateAuthority> authority) {
    OPID_INVARIANT(authority != nullptr);
    const std::lock_guard lock(state_->mutex);
    state_->authority = std::move(authority);
    state_->leaves.clear();
    state_->context.reset();
}

std::shared_ptr<const CertificateAuthority> Interceptor::authority() const {
    const std::lock_guard lock(state_->mutex);
    return state_->authority;
}

InterceptorCounts Interceptor::counts() const {
    const std::lock_guard lock(state_->mutex);
    InterceptorCounts counts = state_->counts;
    counts.kept = state_->leaves.size();
    return counts;
}

}  // namespace opid
