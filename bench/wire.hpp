// One non-blocking TCP connection of the benchmark's tools, in the clear or, once start_tls was called, over TLS.
// HTTP/1.1 alone is offered and taken by ALPN. The owner polls; one thread uses a Wire at a time.
#pragma once

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace opid::bench {

struct OpensslFree {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
    void operator()(SSL* tls) const { SSL_free(tls); }
    void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
};
using TlsContext = std::unique_ptr<SSL_CTX, OpensslFree>;
using TlsSession = std::unique_ptr<SSL_SESSION, OpensslFree>;

namespace detail {

inline constexpr std::string_view alpn_http1 = "\x08http/1.1";

inline const unsigned char* octets(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

inline int choose_http1(SSL*, const unsigned char** out, unsigned char* length, const unsigned char* offered,
                        unsigned offered_length, void*) {
    unsigned char* chosen = nullptr;
    const int found = SSL_select_next_proto(&chosen, length, octets(alpn_http1),
                                            static_cast<unsigned>(alpn_http1.size()), offered, offered_length);
    *out = chosen;
    return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

inline TlsContext plain_context(const SSL_METHOD* method) {
    TlsContext context(SSL_CTX_new(method));
    SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
    SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context.get(), 1);  // a record in one read instead of two
    return context;
}

// The client's new session, put where start_tls was told to.
inline int keep_session(SSL* tls, SSL_SESSION* session) {
    auto* slot = static_cast<TlsSession*>(SSL_get_app_data(tls));
    if (slot == nullptr) return 0;
    slot->reset(session);
    return 1;
}

}  // namespace detail

inline std::string tls_error() {
    char text[256] = "no reason given";
    if (const auto code = ERR_get_error(); code != 0) ERR_error_string_n(code, text, sizeof text);
    ERR_clear_error();
    return text;
}

// Null when a file can't be used; tls_error() tells why.
inline TlsContext server_context(const std::string& chain, const std::string& key) {
    auto context = detail::plain_context(TLS_server_method());
    SSL_CTX_set_alpn_select_cb(context.get(), detail::choose_http1, nullptr);
    const bool good = SSL_CTX_use_certificate_chain_file(context.get(), chain.c_str()) == 1 &&
                      SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) == 1;
    return good ? std::move(context) : nullptr;
}

// Trusts the certificates in `authorities` and no others.
inline TlsContext client_context(const std::string& authorities) {
    auto context = detail::plain_context(TLS_client_method());
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_alpn_protos(context.get(), detail::octets(detail::alpn_http1),
                            static_cast<unsigned>(detail::alpn_http1.size()));
    SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context.get(), detail::keep_session);
    return SSL_CTX_load_verify_locations(context.get(), authorities.c_str(), nullptr) == 1 ? std::move(context)
                                                                                           : nullptr;
}

class Wire {
public:
    enum class Handshake { done, wants_read, wants_write, failed };
    static constexpr std::ptrdiff_t nothing = 0;  // for now
    static constexpr std::ptrdiff_t gone = -1;    // closed or broken

    Wire() = default;
    explicit Wire(int fd) : fd_(fd) {}
    Wire(Wire&& other) noexcept : fd_(std::exchange(other.fd_, -1)), tls_(std::move(other.tls_)) {}
    Wire& operator=(Wire&& other) noexcept {
        close();
        fd_ = std::exchange(other.fd_, -1);
        tls_ = std::move(other.tls_);
        return *this;
    }
    ~Wire() { close(); }

    int fd() const { return fd_; }
    bool is_tls() const { return tls_ != nullptr; }
    bool resumed() const { return tls_ && SSL_session_reused(tls_.get()) == 1; }

    void accept_tls(SSL_CTX* context) {
        tls_.reset(SSL_new(context));
        SSL_set_fd(tls_.get(), fd_);
        SSL_set_accept_state(tls_.get());
    }

    // The peer has to prove `name`. A session in `slot` is offered; new ones are put there. Null: no resumption.
    void start_tls(SSL_CTX* context, const std::string& name, TlsSession* slot) {
        tls_.reset(SSL_new(context));
        SSL_set_fd(tls_.get(), fd_);
        SSL_set_connect_state(tls_.get());
        SSL_set_tlsext_host_name(tls_.get(), name.c_str());
        SSL_set1_host(tls_.get(), name.c_str());
        SSL_set_app_data(tls_.get(), slot);
        if (slot != nullptr && *slot) SSL_set_session(tls_.get(), slot->get());
    }

    Handshake handshake() {
        ERR_clear_error();
        const int result = SSL_do_handshake(tls_.get());
        if (result == 1) return Handshake::done;
        switch (SSL_get_error(tls_.get(), result)) {
            case SSL_ERROR_WANT_READ: return Handshake::wants_read;
            case SSL_ERROR_WANT_WRITE: return Handshake::wants_write;
            default: return Handshake::failed;
        }
    }

    // Bytes read, nothing or gone. The socket's own end and an alert both read as gone.
    std::ptrdiff_t read(char* to, std::size_t room) {
        if (!tls_) {
            const auto got = recv(fd_, to, room, MSG_DONTWAIT);
            return got > 0 ? got : got < 0 && (errno == EAGAIN || errno == EINTR) ? nothing : gone;
        }
        ERR_clear_error();
        std::size_t got = 0;
        return outcome(SSL_read_ex(tls_.get(), to, room, &got), got);
    }

    // True when bytes wait in memory, which no poll tells of.
    bool more() const { return tls_ && SSL_has_pending(tls_.get()) == 1; }

    // Bytes taken, nothing or gone. After nothing the next call has to begin with the same bytes.
    std::ptrdiff_t write(std::string_view bytes) {
        if (!tls_) {
            const auto sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
            return sent >= 0 ? sent : errno == EAGAIN || errno == EINTR ? nothing : gone;
        }
        ERR_clear_error();
        std::size_t sent = 0;
        return outcome(SSL_write_ex(tls_.get(), bytes.data(), bytes.size(), &sent), sent);
    }

    // Says goodbye where TLS was up, and closes.
    void close() {
        if (tls_ && SSL_is_init_finished(tls_.get()) == 1) SSL_shutdown(tls_.get());
        tls_.reset();
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }

private:
    std::ptrdiff_t outcome(int result, std::size_t bytes) const {
        if (result == 1) return static_cast<std::ptrdiff_t>(bytes);
        const int error = SSL_get_error(tls_.get(), result);
        return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? nothing : gone;
    }

    int fd_ = -1;
    std::unique_ptr<SSL, OpensslFree> tls_;
};

}  // namespace opid::bench
