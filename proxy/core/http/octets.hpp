#pragma once
// Classes of bytes and the loops that skip over them: the inner loop of every head parser. 16 bytes a step where
// SSE2 is there (every x86-64), one otherwise; both forms stop at the same byte.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace opid::http {

namespace octets {

constexpr std::array<bool, 256> make_token_table() {
    std::array<bool, 256> table{};
    for (unsigned c = '0'; c <= '9'; ++c) table[c] = true;
    for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = true;
    for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = true;
    for (const char c : std::string_view("!#$%&'*+-.^_`|~")) table[static_cast<unsigned char>(c)] = true;
    return table;
}
inline constexpr std::array<bool, 256> token_table = make_token_table();

}  // namespace octets

inline bool is_token_char(char c) { return octets::token_table[static_cast<unsigned char>(c)]; }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Bytes of a field value and a reason phrase: everything but controls; HTAB is one of the allowed ones.
constexpr bool is_value_char(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte != 0x7f) || byte == '\t';
}
// Bytes of a request target: no control, no space, no fragment. Bytes from 0x80 on pass unchanged.
constexpr bool is_target_char(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte != 0x7f && byte != '#';
}

inline const char* skip_token(const char* at, const char* end) {
    while (at != end && is_token_char(*at)) ++at;
    return at;
}

#if defined(__SSE2__)
// The first of 16 bytes that is at most `low_max` or equals `other`; 16 when none is.
inline unsigned first_stop(const char* at, unsigned char low_max, char other) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i limit = _mm_set1_epi8(static_cast<char>(low_max));
    const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, limit), bytes);
    const __m128i stops = _mm_or_si128(_mm_or_si128(low, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f))),
                                       _mm_cmpeq_epi8(bytes, _mm_set1_epi8(other)));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(stops));
    return mask == 0 ? 16u : static_cast<unsigned>(__builtin_ctz(mask));
}
#endif

inline const char* skip_value(const char* at, const char* end) {
    for (;;) {
#if defined(__SSE2__)
        while (end - at >= 16) {
            const unsigned stop = first_stop(at, 0x1f, 0x7f);
            at += stop;
            if (stop != 16) break;
        }
#endif
        while (at != end && is_value_char(*at)) {
            ++at;
#if defined(__SSE2__)
            if (end - at >= 16) break;
#endif
        }
        if (at == end || !is_value_char(*at)) return at;
    }
}

inline const char* skip_target(const char* at, const char* end) {
#if defined(__SSE2__)
    while (end - at >= 16) {
        const unsigned stop = first_stop(at, 0x20, '#');
        at += stop;
        if (stop != 16) return at;
    }
#endif
    while (at != end && is_target_char(*at)) ++at;
    return at;
}

// Compares a token (checked before: no control byte) with a lower-case literal of letters, digits and hyphens.
inline bool is_name(std::string_view token, std::string_view lower) {
    if (token.size() != lower.size()) return false;
    std::size_t i = 0;
    for (; i + 8 <= lower.size(); i += 8) {
        std::uint64_t a = 0;
        std::uint64_t b = 0;
        std::memcpy(&a, token.data() + i, 8);
        std::memcpy(&b, lower.data() + i, 8);
        if ((a | 0x2020202020202020u) != b) return false;
    }
    for (; i < lower.size(); ++i) {
        if (static_cast<char>(token[i] | 0x20) != lower[i]) return false;
    }
    return true;
}

// Whether a CR in `text` is followed by something else than LF. One that ends the text is not known yet.
inline bool has_stray_cr(std::string_view text) {
    for (std::size_t at = text.find('\r'); at != std::string_view::npos; at = text.find('\r', at + 1)) {
        if (at + 1 < text.size() && text[at + 1] != '\n') return true;
    }
    return false;
}

inline std::string_view span_of(const char* from, const char* to) {
    return {from, static_cast<std::size_t>(to - from)};
}

}  // namespace opid::http
