#pragma once
// The first message of a TLS client, read before any of it is used: whom it wants to speak to and which protocols it
// offers inside. What is decided from it (intercept, tunnel blind, refuse) must be decided while the bytes are still
// untouched. RFC 8446 section 4.1.2, RFC 6066 section 3 (server_name), RFC 7301 (ALPN).
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace opid::tls {

struct ClientHello {
    bool server_name_given = false;
    std::string server_name;  // as sent, not normalised; no NUL, 1 to 255 bytes
    bool alpn_given = false;
    std::vector<std::string> alpn;  // in the client's order; any bytes, 1 to 255 each

    bool offers(std::string_view protocol) const;
};

enum class HelloOutcome : std::uint8_t {
    need_more,  // a prefix of a ClientHello so far
    complete,
    not_tls,  // the bytes can't be the start of a TLS handshake
    refused,  // TLS, but malformed or over the bound
};

struct HelloParse {
    HelloOutcome outcome = HelloOutcome::need_more;
    std::string_view why;  // refused: static text for the log
    ClientHello hello;     // complete only
};

// Of the handshake message, all records together (RFC 8446 allows 2^24 bytes; real ones stay below 16 KiB).
inline constexpr std::size_t client_hello_max = std::size_t{16} * 1024;
// What may have to be buffered for it: every record may carry as little as one byte of the message.
inline constexpr std::size_t client_hello_wire_max = 2 * client_hello_max;

// Reads from the first byte of the connection on; takes any number of records and segments. Never throws for what a
// peer can send; work is linear in bytes.size().
HelloParse parse_client_hello(std::string_view bytes);

}  // namespace opid::tls
