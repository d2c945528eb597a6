#include "adapters/net/tls_session.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace opid {

// OpenSSL's own socket BIO writes without MSG_NOSIGNAL and can't be given bytes that were read before.
struct TlsBio {
    static TlsSession::Wire& wire(BIO* bio) { return *static_cast<TlsSession::Wire*>(BIO_get_data(bio)); }

    static int write(BIO* bio, const char* bytes, int size) {
        BIO_clear_retry_flags(bio);
        const auto sent = ::send(wire(bio).socket, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_write(bio);
        return static_cast<int>(sent);
    }

    static int read(BIO* bio, char* into, int room) {
        BIO_clear_retry_flags(bio);
        TlsSession::Wire& from = wire(bio);
        if (from.early_used < from.early.size()) {
            const std::size_t part = std::min(static_cast<std::size_t>(room), from.early.size() - from.early_used);
            std::copy_n(from.early.data() + from.early_used, part, into);
            from.early_used += part;
            if (from.early_used == from.early.size()) {
                std::string().swap(from.early);
                from.early_used = 0;
            }
            return static_cast<int>(part);
        }
        const auto got = ::recv(from.socket, into, static_cast<std::size_t>(room), 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) BIO_set_retry_read(bio);
        if (got == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
        return static_cast<int>(got);
    }

    static long control(BIO* bio, int command, long, void*) {
        if (command == BIO_CTRL_FLUSH) return 1;
        if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
        return 0;
    }

    static const BIO_METHOD* method() {
        static BIO_METHOD* const made = [] {
            BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "opid socket");
            BIO_meth_set_write(method, write);
            BIO_meth_set_read(method, read);
            BIO_meth_set_ctrl(method, control);
            return method;
        }();
        return made;
    }

    // The server asks for a certificate. Where the context has none the handshake goes on without, as the server may
    // put up with that; if it doesn't, the reason is known.
    static int certificate_asked_for(SSL*, void* asked) {
        *static_cast<bool*>(asked) = true;
        return 1;
    }
};

namespace {

constexpr std::size_t record_bytes = 16 * 1024;

// Alerts of the peer (RFC 8446 section 6.2), as OpenSSL numbers them.
bool is_about_certificates(int reason) {
    const int alert = reason - SSL_AD_REASON_OFFSET;
    return (alert >= SSL_AD_BAD_CERTIFICATE && alert <= SSL_AD_CERTIFICATE_UNKNOWN) || alert == SSL_AD_UNKNOWN_CA ||
           alert == SSL_AD_ACCESS_DENIED || alert == SSL_AD_CERTIFICATE_REQUIRED;
}

std::string last_words(const SSL* ssl) {
    const long verdict = SSL_get_verify_result(ssl);
    if (verdict != X509_V_OK) return std::string("certificate: ") + X509_verify_cert_error_string(verdict);
    const unsigned long code = ERR_peek_last_error();
    const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
    return reason == nullptr ? "connection lost" : reason;
}

}  // namespace

TlsSession::TlsSession(TlsContextPtr context, int socket, const std::string& host, bool is_ip)
    : context_(std::move(context)),
      ssl_(SSL_new(context_.get())) {
    wire_.socket = socket;
    attach();
    SSL_set_connect_state(ssl_);
    SSL_set_cert_cb(ssl_, TlsBio::certificate_asked_for, &certificate_asked_);
    if (is_ip) {
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_), host.c_str());
    } else {
        SSL_set_tlsext_host_name(ssl_, host.c_str());
        SSL_set_hostflags(ssl_, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
        SSL_set1_host(ssl_, host.c_str());
    }
}

TlsSession::TlsSession(ssl_st* ssl, int socket, std::string early) : ssl_(ssl) {
    wire_.socket = socket;
    wire_.early = std::move(early);
    attach();
}

TlsSession::~TlsSession() { SSL_free(ssl_); }

void TlsSession::attach() {
    BIO* const bio = BIO_new(TlsBio::method());
    BIO_set_data(bio, &wire_);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_, bio, bio);
}

Io TlsSession::outcome(int result, bool reading) {
    const int why = SSL_get_error(ssl_, result);
    switch (why) {
        case SSL_ERROR_WANT_READ: return {Io::State::want_read, 0, {}};
        case SSL_ERROR_WANT_WRITE: return {Io::State::want_write, 0, {}};
        case SSL_ERROR_ZERO_RETURN:
            if (reading) return {Io::State::end, 0, {}};
            break;
        case SSL_ERROR_SSL:
            if (reading && ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
                ERR_clear_error();
                return {Io::State::cut, 0, {}};
            }
            break;
        default: break;
    }
    certificate_refused_ = certificate_asked_ && SSL_version(ssl_) == TLS1_3_VERSION && !read_any_ &&
                           is_about_certificates(ERR_GET_REASON(ERR_peek_error()));
    const int number = why == SSL_ERROR_SYSCALL && errno != 0 ? errno : EPROTO;
    trouble_ = last_words(ssl_);
    if (certificate_asked_ && SSL_get_certificate(ssl_) == nullptr)
        trouble_ += "; it wants a client certificate (the profile's tls.client_certificate)";
    ERR_clear_error();
    return {Io::State::failed, 0, boost::system::error_code(number, boost::system::system_category())};
}

Io TlsSession::handshake() {
    ERR_clear_error();
    errno = 0;
    const int result = SSL_do_handshake(ssl_);
    if (result == 1) return {Io::State::done, 0, {}};
    return outcome(result, false);
}

Io TlsSession::read(char* into, std::size_t room) {
    ERR_clear_error();
    errno = 0;
    std::size_t got = 0;
    const int result = SSL_read_ex(ssl_, into, room, &got);
    if (result == 1) {
        read_any_ = true;
        return {Io::State::done, got, {}};
    }
    return outcome(result, true);
}

Io TlsSession::write(std::string_view bytes) {
    ERR_clear_error();
    errno = 0;
    std::size_t sent = 0;
    const int result = SSL_write_ex(ssl_, bytes.data(), bytes.size(), &sent);
    if (result == 1) return {Io::State::done, sent, {}};
    return outcome(result, false);
}

// A write that has to be repeated must come with the same bytes; the caller gives the same pieces again, so the
// same bytes are gathered again.
Io TlsSession::write_gathered(std::span<const std::string_view> pieces) {
    std::array<char, record_bytes> record;  // NOLINT: filled below
    std::size_t size = 0;
    for (const std::string_view piece : pieces) {
        const std::size_t part = std::min(piece.size(), record.size() - size);
        std::copy_n(piece.data(), part, record.data() + size);
        size += part;
        if (size == record.size()) break;
    }
    return write({record.data(), size});
}

void TlsSession::close_notify() noexcept {
    ERR_clear_error();
    SSL_shutdown(ssl_);
    ERR_clear_error();
}

bool TlsSession::idle_and_healthy() {
    ERR_clear_error();
    char byte = 0;
    std::size_t got = 0;
    const int result = SSL_peek_ex(ssl_, &byte, 1, &got);  // also takes in session tickets
    const bool quiet = result != 1 && SSL_get_error(ssl_, result) == SSL_ERROR_WANT_READ;
    ERR_clear_error();
    return quiet;
}

bool TlsSession::pending() const { return SSL_has_pending(ssl_) == 1 || !wire_.early.empty(); }

}  // namespace opid
