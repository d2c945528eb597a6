#pragma once
// One TLS client session on a socket that somebody else owns.
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
    ~TlsSession();
    TlsSession(const TlsSession&) = delete;
    TlsSession& operator=(const TlsSession&) = delete;

    Io handshake();
    Io read(char* into, std::size_t room);
    Io write(std::string_view bytes);
    Io write_gathered(std::span<const std::string_view> pieces);  // as few records as one buffer allows
    void close_notify() noexcept;
    bool idle_and_healthy();
    std::string trouble() const { return trouble_; }

private:
    Io outcome(int result, bool reading);
    TlsContextPtr context_;
    ssl_st* ssl_ = nullptr;
    std::string trouble_;
};

}  // namespace opid
