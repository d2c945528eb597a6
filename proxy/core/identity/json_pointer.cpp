#include "core/identity/json_pointer.hpp"

#include <fmt/format.h>

namespace opid {
namespace {

Result<std::string> unescape(std::string_view segment, std::string_view whole) {
    std::string text;
    for (std::size_t i = 0; i < segment.size(); ++i) {
        if (segment[i] != '~') {
            text.push_back(segment[i]);
            continue;
        }
        ++i;
        if (i == segment.size() || (segment[i] != '0' && segment[i] != '1')) {
            return Error(ErrorKind::invalid,
                         fmt::format("pointer '{}': '~' must be written '~0', '/' inside a name '~1'", whole));
        }
        text.push_back(segment[i] == '0' ? '~' : '/');
    }
    return text;
}

}  // namespace

std::optional<std::size_t> array_index(std::string_view segment) {
    if (segment.empty() || segment.size() > 10 || (segment.front() == '0' && segment.size() > 1)) return std::nullopt;
    std::size_t index = 0;
    for (const char c : segment) {
        if (c < '0' || c > '9') return std::nullopt;
        index = index * 10 + static_cast<std::size_t>(c - '0');
    }
    return index;
}

void append_pointer_segment(std::string& out, std::string_view segment) {
    out.push_back('/');
    for (const char c : segment) {
        if (c == '~') {
            out += "~0";
        } else if (c == '/') {
            out += "~1";
        } else {
            out.push_back(c);
        }
    }
}

Result<JsonPointer> JsonPointer::parse(std::string_view text) {
    JsonPointer pointer;
    if (text.empty()) return pointer;
    if (text.front() != '/') {
        return Error(ErrorKind::invalid, fmt::format("pointer '{}' must be empty or begin with '/'", text));
    }
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find('/', at + 1), text.size());
        auto segment = unescape(text.substr(at + 1, end - at - 1), text);
        if (!segment) return segment.error();
        if (pointer.segments_.size() == pointer_segments_max) {
            return Error(ErrorKind::invalid, fmt::format("a pointer has at most {} segments", pointer_segments_max));
        }
        pointer.segments_.push_back(std::move(*segment));
        at = end;
    }
    return pointer;
}

JsonPointer JsonPointer::of(std::vector<std::string> segments) {
    JsonPointer pointer;
    pointer.segments_ = std::move(segments);
    return pointer;
}

std::string JsonPointer::text() const {
    std::string text;
    for (const auto& segment : segments_) append_pointer_segment(text, segment);
    return text;
}

std::optional<JsonValue> JsonPointer::resolve(JsonValue root) const {
    std::optional<JsonValue> value = root;
    for (const auto& segment : segments_) {
        if (value->is(JsonKind::array)) {
            const auto index = array_index(segment);
            value = index ? value->element(*index) : std::nullopt;
        } else {
            value = value->member(segment);
        }
        if (!value) return std::nullopt;
    }
    return value;
}

Result<JsonPattern> JsonPattern::parse(std::string_view text) {
    auto pointer = JsonPointer::parse(text);
    if (!pointer) return pointer.error();
    JsonPattern pattern = exactly(*pointer);
    for (auto& segment : pattern.segments_) segment.any = segment.text == "*";
    return pattern;
}

JsonPattern JsonPattern::exactly(const JsonPointer& pointer) {
    JsonPattern pattern;
    for (const auto& segment : pointer.segments()) pattern.segments_.push_back(Segment{segment, false});
    return pattern;
}

bool JsonPattern::matches_at(std::size_t depth, std::string_view segment) const {
    return depth < segments_.size() && (segments_[depth].any || segments_[depth].text == segment);
}

bool JsonPattern::covers(std::span<const std::string> path) const {
    if (segments_.size() > path.size()) return false;
    for (std::size_t i = 0; i < segments_.size(); ++i) {
        if (!matches_at(i, path[i])) return false;
    }
    return true;
}

bool JsonPattern::matches(std::span<const std::string> path) const {
    return path.size() == segments_.size() && covers(path);
}

std::string JsonPattern::text() const {
    std::string text;
    for (const auto& segment : segments_) append_pointer_segment(text, segment.text);
    return text;
}

JsonPointer JsonPattern::bound_to(std::span<const std::string> path) const {
    std::vector<std::string> bound;
    for (std::size_t i = 0; i < segments_.size(); ++i) {
        bound.push_back(segments_[i].any && i < path.size() ? path[i] : segments_[i].text);
    }
    return JsonPointer::of(std::move(bound));
}

}  // namespace opid
