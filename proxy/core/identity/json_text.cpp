// UTF-8 and the writing of JSON strings.
#include <cstdint>
#include <cstring>

#include "core/identity/json_reader.hpp"
#include "core/identity/utf8.hpp"

namespace opid {

bool is_utf8(std::string_view bytes) {
    std::size_t at = 0;
    while (at < bytes.size()) {
        const std::size_t length = utf8_length(bytes, at);
        if (length == 0) return false;
        at += length;
    }
    return true;
}

namespace {

void append_escape(std::string& out, char c) {
    constexpr std::string_view digits = "0123456789abcdef";
    switch (c) {
        case '\b': out += "\\b"; return;
        case '\t': out += "\\t"; return;
        case '\n': out += "\\n"; return;
        case '\f': out += "\\f"; return;
        case '\r': out += "\\r"; return;
        case '"': out += "\\\""; return;
        case '\\': out += "\\\\"; return;
        default:
            out += "\\u00";
            out.push_back(digits[static_cast<unsigned char>(c) >> 4]);
            out.push_back(digits[static_cast<unsigned char>(c) & 15]);
    }
}

// How many bytes at the start need no escape, in steps of eight. A borrow in these sums can only make a byte seem to
// need one.
std::size_t unescaped(std::string_view text) {
    constexpr std::uint64_t each = 0x0101010101010101;
    std::size_t at = 0;
    for (; text.size() - at >= sizeof(std::uint64_t); at += sizeof(std::uint64_t)) {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, text.data() + at, sizeof bytes);
        const std::uint64_t quote = bytes ^ '"' * each;
        const std::uint64_t backslash = bytes ^ '\\' * each;
        const std::uint64_t escaped = ((bytes - 0x20 * each) & ~bytes) | ((quote - each) & ~quote) |
                                      ((backslash - each) & ~backslash);
        if ((escaped & 0x80 * each) != 0) break;
    }
    return at;
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
    out.push_back('"');
    std::size_t plain = 0;
    for (std::size_t i = unescaped(text); i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte >= 0x20 && byte != '"' && byte != '\\') continue;
        out.append(text, plain, i - plain);
        append_escape(out, text[i]);
        plain = i + 1;
    }
    out.append(text, plain, text.size() - plain);
    out.push_back('"');
}

}  // namespace opid
