#include "core/identity/multipart_parts.hpp"

#include <algorithm>

#include "base/encoding.hpp"
#include "core/identity/canonical_form.hpp"
#include "core/identity/netstring.hpp"

namespace opid {
namespace {

constexpr int nested_levels_max = 4;
constexpr std::size_t boundary_chars_max = 70;  // RFC 2046 section 5.1.1

using HeaderLines = std::vector<std::pair<std::string, std::string>>;

std::optional<std::vector<BodyField>> fields_of(std::string_view content_type, std::string_view body, int level);

// Cuts the header lines, up to and with the empty line, off the front of a part.
std::optional<HeaderLines> take_headers(std::string_view& part) {
    HeaderLines lines;
    while (true) {
        const std::size_t end = part.find("\r\n");
        if (end == std::string_view::npos) return std::nullopt;
        const std::string_view line = part.substr(0, end);
        part.remove_prefix(end + 2);
        if (line.empty()) return lines;
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos || colon == 0) return std::nullopt;
        lines.emplace_back(ascii_lower(line.substr(0, colon)), trim_blank(line.substr(colon + 1)));
    }
}

bool is_multipart(std::string_view content_type) { return media_essence(content_type).rfind("multipart/", 0) == 0; }

// The value of a nested multipart becomes the encoding of its parts, and its boundary goes.
void unfold_nested(BodyField& part, HeaderLines& lines, int level) {
    for (auto& [name, value] : lines) {
        if (name != "content-type" || !is_multipart(value)) continue;
        auto inner = fields_of(value, part.value, level + 1);
        if (!inner) return;
        part.value.clear();
        for (const auto& field : *inner) part.value += encode_part(field);
        part.headers = "parts,";
        part.is_text = false;
        value = media_essence(value);
        return;
    }
}

std::optional<BodyField> part_of(std::string_view text, int level) {
    auto lines = take_headers(text);
    if (!lines) return std::nullopt;
    BodyField part;
    part.value = text;
    for (const auto& [name, value] : *lines) {
        if (name != "content-disposition") continue;
        part.name = media_parameter(value, "name");
        const std::string lower = ascii_lower(value);
        part.is_text = lower.find("filename") == std::string::npos;
    }
    part.path = field_path(part.name);
    unfold_nested(part, *lines, level);
    std::stable_sort(lines->begin(), lines->end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [name, value] : *lines) {
        append_netstring(part.headers, name);
        part.headers.push_back('=');
        append_netstring(part.headers, value);
        part.headers.push_back(',');
    }
    return part;
}

void add_outside_text(std::vector<BodyField>& fields, std::string_view text, const char* where) {
    if (text.empty()) return;
    BodyField field;
    field.path = {""};
    field.value = text;
    field.is_text = false;
    field.headers = where;  // no header line encodes to this
    fields.push_back(std::move(field));
}

std::optional<std::vector<BodyField>> fields_of(std::string_view content_type, std::string_view body, int level) {
    const std::string boundary = media_parameter(content_type, "boundary");
    if (boundary.empty() || boundary.size() > boundary_chars_max || level > nested_levels_max) return std::nullopt;
    const std::string delimiter = "\r\n--" + boundary;
    std::vector<BodyField> fields;
    std::size_t at = 0;
    if (body.substr(0, delimiter.size() - 2) == std::string_view(delimiter).substr(2)) {
        at = delimiter.size() - 2;
    } else {
        const std::size_t first = body.find(delimiter);
        if (first == std::string_view::npos) return std::nullopt;
        add_outside_text(fields, body.substr(0, first), "preamble");
        at = first + delimiter.size();
    }
    while (true) {
        const bool last = body.substr(at, 2) == "--";
        if (last) at += 2;
        at = std::min(body.find_first_not_of(" \t", at), body.size());
        if (last && at == body.size()) return fields;
        if (body.substr(at, 2) != "\r\n") return std::nullopt;
        at += 2;
        if (last) {
            add_outside_text(fields, body.substr(at), "epilogue");
            return fields;
        }
        const std::size_t end = body.find(delimiter, at);
        if (end == std::string_view::npos) return std::nullopt;
        auto part = part_of(body.substr(at, end - at), level);
        if (!part) return std::nullopt;
        fields.push_back(std::move(*part));
        at = end + delimiter.size();
    }
}

}  // namespace

std::optional<std::vector<BodyField>> multipart_fields(std::string_view content_type, std::string_view body) {
    return fields_of(content_type, body, 1);
}

std::string encode_part(const BodyField& part) {
    std::string encoded;
    append_netstring(encoded, part.headers);
    encoded.push_back('=');
    append_netstring(encoded, part.value);
    encoded.push_back(',');
    return encoded;
}

}  // namespace opid
