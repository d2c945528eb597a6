#pragma once
// The way into a tunnel that opid is to read: what the client's first bytes are, what follows from them, and the TLS
// handshake under the provider's name. No byte is used before it is decided who gets them.
#include <cstdint>
#include <string>
#include <string_view>

#include "adapters/http/io_shard.hpp"
#include "core/tls/client_hello.hpp"

namespace opid {

struct FirstBytes {
    enum class Kind : std::uint8_t {
        tls,      // a whole ClientHello: `hello`
        broken,   // TLS that can't be read: `why`
        http,     // a request in the clear
        foreign,  // neither; what was read so far is in the buffer
        silent,   // nothing, or not enough to tell, within the time
        gone,     // the client left
    };
    Kind kind = Kind::gone;
    tls::ClientHello hello;
    std::string_view why;
};

// Tells from a prefix; nothing: more bytes are needed. Pure.
std::optional<FirstBytes> tell_first_bytes(std::string_view bytes);

// Reads into `in` (which may hold bytes already, and grows) until it can tell, at most `within`.
Task<FirstBytes> read_first_bytes(IoShard& shard, Stream& client, Buffer& in, Millis within);

// What becomes of a tunnel whose CONNECT named `place`. Pure.
struct EntryPlan {
    enum class Kind : std::uint8_t { intercept, read_clear, blind, refuse };
    Kind kind = Kind::refuse;
    std::uint8_t alert = 0;  // refuse: the TLS alert (RFC 8446 section 6); 0: none, just the end
    std::string why;         // blind, refuse: for the log
};
EntryPlan plan_entry(const FirstBytes& first, const http::Authority& place, H2Only h2_only);

// Answers an alert to a client that has not begun a handshake with us.
void send_alert(Stream& client, std::uint8_t alert);

// Makes `client` a TLS stream under the name of `place`; `hello` is what was read of it. On failure the stream is
// closed and the text says why, for the log: it names neither keys nor contents.
Task<std::optional<std::string>> shake_hands(IoShard& shard, Stream& client, const http::Authority& place,
                                             std::string_view hello);

}  // namespace opid
