#pragma once
// UTF-8 by RFC 3629.
#include <cstdint>
#include <string>
#include <string_view>

namespace opid {

// Length of the well-formed character at `at` (which lies inside the text): 1 to 4; 0 where there is none.
inline std::size_t utf8_length(std::string_view bytes, std::size_t at) {
    const auto byte = [&](std::size_t i) -> unsigned {
        return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0u;
    };
    const auto tail = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    if (lead < 0xC2) return 0;
    if (lead < 0xE0) return tail(1) ? 2 : 0;
    if (lead < 0xF0) {
        if (!tail(1) || !tail(2)) return 0;
        if (lead == 0xE0 && byte(1) < 0xA0) return 0;   // overlong
        if (lead == 0xED && byte(1) >= 0xA0) return 0;  // surrogate
        return 3;
    }
    if (lead > 0xF4 || !tail(1) || !tail(2) || !tail(3)) return 0;
    if (lead == 0xF0 && byte(1) < 0x90) return 0;   // overlong
    if (lead == 0xF4 && byte(1) >= 0x90) return 0;  // beyond U+10FFFF
    return 4;
}

// `code` is a Unicode scalar value.
inline void append_utf8(std::string& out, std::uint32_t code) {
    const auto push = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
    if (code < 0x80) {
        push(code);
    } else if (code < 0x800) {
        push(0xC0 | (code >> 6));
        push(0x80 | (code & 63));
    } else if (code < 0x10000) {
        push(0xE0 | (code >> 12));
        push(0x80 | ((code >> 6) & 63));
        push(0x80 | (code & 63));
    } else {
        push(0xF0 | (code >> 18));
        push(0x80 | ((code >> 12) & 63));
        push(0x80 | ((code >> 6) & 63));
        push(0x80 | (code & 63));
    }
}

// Order by UTF-16 code units, as RFC 8785 wants it. It differs from byte order in one place: the surrogates of
// characters beyond U+FFFF (lead bytes F0 to F4) sort before U+E000 to U+FFFF (lead bytes EE and EF).
inline bool utf16_less(std::string_view a, std::string_view b) {
    const std::size_t shared = a.size() < b.size() ? a.size() : b.size();
    for (std::size_t i = 0; i < shared; ++i) {
        const auto x = static_cast<unsigned char>(a[i]);
        const auto y = static_cast<unsigned char>(b[i]);
        if (x == y) continue;
        if (x >= 0xEE && y >= 0xEE && (x >= 0xF0) != (y >= 0xF0)) return x >= 0xF0;
        return x < y;
    }
    return a.size() < b.size();
}

}  // namespace opid
