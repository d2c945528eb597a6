#pragma once
// One TLS session, client's or server's, on a socket that somebody else owns.
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "adapters/net/stream.hpp"

struct ssl_st;
struct ssl_ctx_st;

namespace opid {

using TlsContextPtr = std::shared_ptr<ssl_ctx_st>;

class TlsSession {
public:
    // `host`: the name (SNI, checked against the certificate) or, with is_ip, the address (no SNI).
    TlsSession(TlsContextPtr context, int socket, const std::string& host, bool is_ip);
    // The server's side: `ssl` is in accept state and belongs to the session from here on. `early`: what was read from
    // the socket before, the first thing that the handshake sees.
    TlsSession(ssl_st* ssl, int socket, std::string early);
    ~TlsSession();
    TlsSession(const TlsSession&) = delete;
    TlsSession& operator=(const TlsSession&) = delete;

    Io handshake();
    Io read(char* into, std::size_t room);
    Io write(std::string_view bytes);
    Io write_gathered(std::span<const std::string_view> pieces);  // as few records as one buffer allows
    void close_notify() noexcept;
    bool idle_and_healthy();
    bool pending() const;  // bytes have come that read() has not given out: the socket's readiness says nothing of them
    std::string trouble() const { return trouble_; }
    // The server asked for a certificate in a TLS 1.3 handshake and broke it off over ours, or the lack of one. That is
    // heard only after the client took the handshake for done (RFC 8446 section 4.4.2.4): what it sent by then was
    // never processed. An alert that comes without having been asked, or in TLS 1.2, proves nothing of the kind.
    bool certificate_refused() const { return certificate_refused_; }

private:
    // What the BIO reads and writes; its address is the BIO's.
    struct Wire {
        int socket = -1;
        std::string early;
        std::size_t early_used = 0;
    };
    friend struct TlsBio;
    void attach();
    Io outcome(int result, bool reading);
    TlsContextPtr context_;
    Wire wire_;
    ssl_st* ssl_ = nullptr;
    std::string trouble_;
    bool certificate_refused_ = false;
    bool read_any_ = false;
    bool certificate_asked_ = false;
};

}  // namespace opid
