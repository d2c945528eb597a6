#include "core/http/media_type.hpp"

#include "base/encoding.hpp"
#include "core/http/fields.hpp"
#include "core/http/octets.hpp"

namespace opid::http {
namespace {

void skip_blanks(std::string_view& text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
}

std::string_view take_token(std::string_view& text) {
    std::size_t size = 0;
    while (size < text.size() && is_token_char(text[size])) ++size;
    const std::string_view token = text.substr(0, size);
    text.remove_prefix(size);
    return token;
}

std::optional<std::string> take_quoted(std::string_view& text) {
    std::string value;
    text.remove_prefix(1);
    while (!text.empty() && text.front() != '"') {
        if (text.front() == '\\') text.remove_prefix(1);
        if (text.empty() || !is_value_char(text.front())) return std::nullopt;
        value += text.front();
        text.remove_prefix(1);
    }
    if (text.empty()) return std::nullopt;
    text.remove_prefix(1);
    return value;
}

// The parameter behind a semicolon. An empty one (`;;`, or a semicolon at the end) is allowed and adds nothing.
bool take_parameter(std::string_view& text, MediaType& out) {
    const std::string name = ascii_lower(take_token(text));
    if (name.empty()) return text.empty() || text.front() == ';';
    if (text.empty() || text.front() != '=') return false;
    text.remove_prefix(1);
    std::optional<std::string> value;
    if (!text.empty() && text.front() == '"') {
        value = take_quoted(text);
    } else {
        value = std::string(take_token(text));
        if (value->empty()) return false;
    }
    if (!value || out.parameter(name)) return false;
    out.parameters.emplace_back(name, std::move(*value));
    return true;
}

}  // namespace

bool MediaType::is(std::string_view type_and_subtype) const {
    return type_and_subtype.size() == type.size() + 1 + subtype.size() &&
           type_and_subtype.substr(0, type.size()) == type && type_and_subtype[type.size()] == '/' &&
           type_and_subtype.substr(type.size() + 1) == subtype;
}

bool MediaType::has_suffix(std::string_view suffix) const {
    if (subtype == suffix) return true;
    const std::size_t plus = subtype.rfind('+');
    return plus != std::string::npos && std::string_view(subtype).substr(plus + 1) == suffix;
}

std::optional<std::string_view> MediaType::parameter(std::string_view name) const {
    for (const auto& [known, value] : parameters) {
        if (known == name) return std::string_view(value);
    }
    return std::nullopt;
}

std::optional<MediaType> parse_media_type(std::string_view text) {
    text = trim_blank(text);
    MediaType media;
    media.type = ascii_lower(take_token(text));
    if (media.type.empty() || text.empty() || text.front() != '/') return std::nullopt;
    text.remove_prefix(1);
    media.subtype = ascii_lower(take_token(text));
    if (media.subtype.empty()) return std::nullopt;
    for (;;) {
        skip_blanks(text);
        if (text.empty()) return media;
        if (text.front() != ';') return std::nullopt;
        text.remove_prefix(1);
        skip_blanks(text);
        if (!take_parameter(text, media)) return std::nullopt;
    }
}

}  // namespace opid::http
