// UTF-8 and the writing of JSON strings.
#include <array>

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

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
    out.push_back('"');
    std::size_t plain = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
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
