#pragma once
// How the body of a message is delimited (RFC 9112 section 6.3). Decided here alone, from the head.
#include <cstdint>

namespace opid::http {

enum class BodyKind : std::uint8_t {
    none,         // no body and no framing field
    length,       // Content-Length, zero included
    chunked,      // Transfer-Encoding: chunked
    until_close,  // responses only: up to the end of the connection
};

struct Framing {
    BodyKind kind = BodyKind::none;
    std::uint64_t length = 0;  // bytes, for BodyKind::length only; at most 2^63-1

    static constexpr Framing none() { return {}; }
    static constexpr Framing sized(std::uint64_t bytes) { return {BodyKind::length, bytes}; }
    static constexpr Framing chunked() { return {BodyKind::chunked, 0}; }
    static constexpr Framing until_close() { return {BodyKind::until_close, 0}; }

    // False when it is certain that no body byte follows the head.
    constexpr bool has_body() const { return kind != BodyKind::none && (kind != BodyKind::length || length > 0); }
    friend constexpr bool operator==(const Framing&, const Framing&) = default;
};

}  // namespace opid::http
