// Access to a document that was read.
#include "base/invariant.hpp"
#include "core/identity/json_reader.hpp"
#include "core/identity/utf8.hpp"

namespace opid {
namespace {

std::uint32_t hex_unit(std::string_view digits) {
    std::uint32_t unit = 0;
    for (const char c : digits) {
        const std::uint32_t digit = c <= '9'   ? static_cast<std::uint32_t>(c - '0')
                                    : c <= 'F' ? static_cast<std::uint32_t>(c - 'A' + 10)
                                               : static_cast<std::uint32_t>(c - 'a' + 10);
        unit = unit * 16 + digit;
    }
    return unit;
}

char simple_escape(char c) {
    switch (c) {
        case 'b': return '\b';
        case 'f': return '\f';
        case 'n': return '\n';
        case 'r': return '\r';
        case 't': return '\t';
        default: return c;
    }
}

// `inner` lies between the quotes of a string that the reader accepted, so its escapes are complete.
void decode(std::string_view inner, std::string& out) {
    out.clear();
    std::size_t at = 0;
    while (at < inner.size()) {
        const std::size_t backslash = inner.find('\\', at);
        if (backslash == std::string_view::npos) break;
        out.append(inner, at, backslash - at);
        if (inner[backslash + 1] != 'u') {
            out.push_back(simple_escape(inner[backslash + 1]));
            at = backslash + 2;
            continue;
        }
        std::uint32_t code = hex_unit(inner.substr(backslash + 2, 4));
        at = backslash + 6;
        if (code >= 0xD800 && code < 0xE000) {
            code = 0x10000 + ((code - 0xD800) << 10) + (hex_unit(inner.substr(at + 2, 4)) - 0xDC00);
            at += 6;
        }
        append_utf8(out, code);
    }
    if (at < inner.size()) out.append(inner, at, inner.size() - at);
}

}  // namespace

// `quoted`: with its quotes, as in the text.
std::string_view JsonValue::decoded(std::string_view quoted, bool escaped, std::string& scratch) {
    const std::string_view inner = quoted.substr(1, quoted.size() - 2);
    if (!escaped) return inner;
    decode(inner, scratch);
    return scratch;
}

std::string_view JsonValue::string(std::string& scratch) const {
    const auto& node = document_->nodes_[index_];
    OPID_INVARIANT(node.kind == JsonKind::string);
    return decoded(raw(), node.escaped, scratch);
}

std::string JsonValue::string() const {
    std::string scratch;
    return std::string(string(scratch));
}

std::size_t JsonValue::size() const {
    std::size_t count = 0;
    for (auto child = first(); child; child = child->next()) ++count;
    return count;
}

std::string_view JsonValue::name(std::string& scratch) const {
    const auto& node = document_->nodes_[index_];
    OPID_INVARIANT(node.member);
    const std::size_t length = node.name_end - node.name_begin;
    return decoded(document_->text_.substr(node.name_begin, length), node.name_escaped, scratch);
}

std::string JsonValue::name() const {
    std::string scratch;
    return std::string(name(scratch));
}

std::optional<JsonValue> JsonValue::member(std::string_view wanted) const {
    if (kind() != JsonKind::object) return std::nullopt;
    std::string scratch;
    for (auto child = first(); child; child = child->next()) {
        if (child->name(scratch) == wanted) return child;
    }
    return std::nullopt;
}

std::optional<JsonValue> JsonValue::element(std::size_t index) const {
    if (kind() != JsonKind::array) return std::nullopt;
    auto child = first();
    for (; child && index > 0; --index) child = child->next();
    return child;
}

}  // namespace opid
