#include "core/identity/key_carrier.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/encoding.hpp"

namespace opid {
namespace {

bool is_header_name(std::string_view name) {
    for (const char c : name) {
        const char lower = ascii_lower(c);
        const bool word = (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9');
        if (!word && std::string_view("!#$%&'*+-.^_`|~").find(c) == std::string_view::npos) return false;
    }
    return !name.empty();
}

// "input.key" -> /variables/input/key
JsonPointer graphql_variable(std::string_view name) {
    std::vector<std::string> segments{"variables"};
    for (std::size_t at = 0; at <= name.size();) {
        const std::size_t end = std::min(name.find('.', at), name.size());
        segments.emplace_back(name.substr(at, end - at));
        at = end + 1;
    }
    return JsonPointer::of(std::move(segments));
}

Error invalid(std::string_view text, std::string_view what) {
    return Error(ErrorKind::invalid, fmt::format("key carrier '{}': {}", text, what));
}

std::vector<std::string_view> segments_of(std::string_view path) {
    std::vector<std::string_view> segments;
    std::size_t at = path.empty() || path.front() != '/' ? 0 : 1;
    while (true) {
        const std::size_t end = path.find('/', at);
        segments.push_back(path.substr(at, end == std::string_view::npos ? end : end - at));
        if (end == std::string_view::npos) return segments;
        at = end + 1;
    }
}

bool is_capture(std::string_view segment) {
    return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

}  // namespace

Result<KeyCarrier> parse_key_carrier(std::string_view text) {
    KeyCarrier carrier;
    if (text == "none") return carrier;
    const std::size_t colon = text.find(':');
    const std::string_view kind = text.substr(0, colon);
    const std::string_view rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    if (kind == "body") {
        auto pointer = JsonPointer::parse(rest);
        if (!pointer) return pointer.error();
        if (pointer->segments().empty()) return invalid(text, "name a member, for example body:/idempotency_key");
        carrier.kind = KeyCarrier::Kind::body;
        carrier.pointer = std::move(*pointer);
        return carrier;
    }
    if (rest.empty())
        return invalid(text,
                       "use none, header:NAME, body:/pointer, form:NAME, query:NAME, path:{name} or graphql:variable");
    if (kind == "graphql") {
        carrier.kind = KeyCarrier::Kind::body;
        carrier.pointer = graphql_variable(rest);
        return carrier;
    }
    carrier.name = rest;
    if (kind == "header") {
        if (!is_header_name(rest)) return invalid(text, "this is no header name");
        carrier.kind = KeyCarrier::Kind::header;
        carrier.name = ascii_lower(rest);
    } else if (kind == "form") {
        carrier.kind = KeyCarrier::Kind::form;
    } else if (kind == "query") {
        carrier.kind = KeyCarrier::Kind::query;
    } else if (kind == "path") {
        if (!is_capture(rest)) return invalid(text, "write the capture in braces, as in path:{id}");
        carrier.kind = KeyCarrier::Kind::path;
        carrier.name = rest.substr(1, rest.size() - 2);
    } else {
        return invalid(text,
                       "use none, header:NAME, body:/pointer, form:NAME, query:NAME, path:{name} or graphql:variable");
    }
    return carrier;
}

std::string to_text(const KeyCarrier& carrier) {
    switch (carrier.kind) {
        case KeyCarrier::Kind::none: return "none";
        case KeyCarrier::Kind::header: return "header:" + carrier.name;
        case KeyCarrier::Kind::body: return "body:" + carrier.pointer.text();
        case KeyCarrier::Kind::form: return "form:" + carrier.name;
        case KeyCarrier::Kind::query: return "query:" + carrier.name;
        case KeyCarrier::Kind::path: return "path:{" + carrier.name + "}";
    }
    return "none";
}

std::optional<std::pair<std::size_t, std::size_t>> find_path_capture(std::string_view glob, std::string_view path,
                                                                     std::string_view name) {
    const auto pattern = segments_of(glob);
    const auto segments = segments_of(path);
    // Greedy matching with one step back: where the last "**" began, and how much it has taken.
    std::size_t p = 0;
    std::size_t s = 0;
    std::size_t star = pattern.size();
    std::size_t star_takes_until = 0;
    std::vector<std::size_t> taken(pattern.size(), segments.size());
    while (s < segments.size()) {
        if (p < pattern.size() && pattern[p] == "**") {
            star = p++;
            star_takes_until = s;
        } else if (p < pattern.size() && (pattern[p] == "*" || is_capture(pattern[p]) || pattern[p] == segments[s])) {
            taken[p++] = s++;
        } else if (star < pattern.size()) {
            p = star + 1;
            s = ++star_takes_until;
        } else {
            return std::nullopt;
        }
    }
    while (p < pattern.size() && pattern[p] == "**") ++p;
    if (p < pattern.size()) return std::nullopt;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (!is_capture(pattern[i]) || pattern[i].substr(1, pattern[i].size() - 2) != name) continue;
        const std::string_view segment = segments[taken[i]];
        return std::pair(static_cast<std::size_t>(segment.data() - path.data()), segment.size());
    }
    return std::nullopt;
}

}  // namespace opid
