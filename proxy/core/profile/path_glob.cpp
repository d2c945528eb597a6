#include "core/profile/path_glob.hpp"

#include <algorithm>

#include "base/encoding.hpp"

namespace opid {
namespace {

// "/a/b" -> a, b; "/a/" -> a, ""; "/" -> "".
std::vector<std::string_view> split_segments(std::string_view path) {
    std::vector<std::string_view> segments;
    if (!path.empty() && path.front() == '/') path.remove_prefix(1);
    while (true) {
        const std::size_t end = path.find('/');
        segments.push_back(path.substr(0, end));
        if (end == std::string_view::npos) return segments;
        path.remove_prefix(end + 1);
    }
}

bool is_capture_name(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        const char lower = ascii_lower(c);
        return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
}

bool is_unreserved(char c) {
    const char lower = ascii_lower(c);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
}

// Decodes %XX where `wanted` takes the byte, as the byte that it returns (0: it doesn't).
template <class Wanted>
std::string decode_some(std::string_view text, Wanted wanted) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%' && i + 2 < text.size()) {
            const auto byte = from_hex(text.substr(i + 1, 2));
            const char decoded = byte ? wanted(byte->front()) : '\0';
            if (decoded != '\0') {
                out += decoded;
                i += 2;
                continue;
            }
        }
        out += text[i];
    }
    return out;
}

// An encoded slash is data to most providers (a project's full name, say), as is a backslash, and what follows a
// semicolon. To some the first two are slashes and the third is no part of the name, and then it matters where ".."
// leads out of what the path seems to be below.
std::string decode_for_reading(std::string_view path) {
    const std::string careful = decode_some(path, [](char c) { return is_unreserved(c) ? c : '\0'; });
    std::string bold = decode_some(careful, [](char c) { return c == '/' || c == '\\' || c == ';' ? c : '\0'; });
    std::replace(bold.begin(), bold.end(), '\\', '/');
    std::string bare;
    bool leads_out = false;
    for (const std::string_view segment : split_segments(bold)) {
        const std::string_view name = segment.substr(0, segment.find(';'));
        leads_out = leads_out || name == "..";
        bare += '/';
        bare += name;
    }
    return leads_out ? bare : careful;
}

}  // namespace

std::optional<PathGlob> PathGlob::parse(std::string_view text, std::string& error) {
    if (text.empty() || text.front() != '/') {
        error = "a path pattern begins with '/'";
        return std::nullopt;
    }
    if (text.find_first_of("?#") != std::string_view::npos) {
        error = "a path pattern has no query; use match.query";
        return std::nullopt;
    }
    PathGlob glob;
    glob.text_ = text;
    for (const std::string_view part : split_segments(text)) {
        Segment segment;
        if (part == "*") {
            segment.kind = Kind::one;
        } else if (part == "**") {
            segment.kind = Kind::many;
        } else if (part.size() > 2 && part.front() == '{' && part.back() == '}') {
            segment.kind = Kind::capture;
            segment.text = part.substr(1, part.size() - 2);
            if (!is_capture_name(segment.text)) {
                error = "'" + std::string(part) + "': a capture's name has letters, digits, '_' and '-'";
                return std::nullopt;
            }
            if (glob.has_capture(segment.text)) {
                error = "'" + std::string(part) + "' stands there twice";
                return std::nullopt;
            }
        } else if (part.find_first_of("*{}") != std::string_view::npos) {
            error = "'" + std::string(part) + "': '*', '**' and '{name}' stand for whole segments";
            return std::nullopt;
        } else {
            segment.text = part;
        }
        glob.segments_.push_back(std::move(segment));
    }
    return glob;
}

bool PathGlob::has_capture(std::string_view name) const {
    return std::any_of(segments_.begin(), segments_.end(), [name](const Segment& segment) {
        return segment.kind == Kind::capture && segment.text == name;
    });
}

// The usual way with one wildcard that spans: on a mismatch the last "**" takes one segment more.
bool PathGlob::matches(std::string_view path, PathCaptures* captures) const {
    const std::vector<std::string_view> parts = split_segments(path);
    constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
    std::vector<std::size_t> taken(segments_.size(), nowhere);  // which part a segment matched
    std::size_t part = 0;
    std::size_t segment = 0;
    std::size_t many_segment = nowhere;
    std::size_t many_part = 0;
    while (part < parts.size()) {
        if (segment < segments_.size()) {
            const Segment& wanted = segments_[segment];
            if (wanted.kind == Kind::many) {
                many_segment = segment++;
                many_part = part;
                continue;
            }
            const bool fits = wanted.kind == Kind::literal ? wanted.text == parts[part] : !parts[part].empty();
            if (fits) {
                taken[segment++] = part++;
                continue;
            }
        }
        if (many_segment == nowhere) return false;
        segment = many_segment + 1;
        part = ++many_part;
    }
    while (segment < segments_.size() && segments_[segment].kind == Kind::many) ++segment;
    if (segment != segments_.size()) return false;
    if (captures == nullptr) return true;
    captures->clear();
    for (std::size_t i = 0; i < segments_.size(); ++i) {
        if (segments_[i].kind == Kind::capture) captures->emplace_back(segments_[i].text, parts[taken[i]]);
    }
    return true;
}

std::optional<std::string> other_reading_of(std::string_view path) {
    const bool plain = path.find_first_of("%\\") == std::string_view::npos &&
                       path.find("//") == std::string_view::npos && path.find("/.") == std::string_view::npos &&
                       (path.size() <= 1 || path.back() != '/');
    if (plain) return std::nullopt;
    const std::string decoded = decode_for_reading(path);
    std::vector<std::string_view> kept;
    for (const std::string_view segment : split_segments(decoded)) {
        if (segment.empty() || segment == ".") continue;
        if (segment != "..") {
            kept.push_back(segment);
        } else if (!kept.empty()) {
            kept.pop_back();
        }
    }
    std::string other;
    for (const std::string_view segment : kept) {
        other += '/';
        other += segment;
    }
    if (other.empty()) other = "/";
    if (other == path) return std::nullopt;
    return other;
}

}  // namespace opid
