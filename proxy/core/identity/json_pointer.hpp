#pragma once
// RFC 6901 pointers, and the patterns that rules use: a pointer in which the segment "*" stands for any one member or
// array index. A member that is really called "*" can only be reached by such a wildcard.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/identity/json_reader.hpp"

namespace opid {

constexpr std::size_t pointer_segments_max = 64;

// The array index that a segment names: decimal digits without leading zero. "-" and all else: nullopt.
std::optional<std::size_t> array_index(std::string_view segment);

// Appends "/" and the segment, escaped.
void append_pointer_segment(std::string& out, std::string_view segment);

class JsonPointer {
public:
    JsonPointer() = default;  // the whole document
    // "" or segments that each begin with "/"; "~" only in "~0" and "~1". Error (invalid) otherwise.
    static Result<JsonPointer> parse(std::string_view text);
    static JsonPointer of(std::vector<std::string> segments);

    const std::vector<std::string>& segments() const { return segments_; }
    std::string text() const;
    std::optional<JsonValue> resolve(JsonValue root) const;

    friend bool operator==(const JsonPointer&, const JsonPointer&) = default;

private:
    std::vector<std::string> segments_;
};

class JsonPattern {
public:
    JsonPattern() = default;
    static Result<JsonPattern> parse(std::string_view text);
    static JsonPattern exactly(const JsonPointer& pointer);  // no wildcards, not even for "*"

    std::size_t size() const { return segments_.size(); }
    bool matches_at(std::size_t depth, std::string_view segment) const;
    bool matches(std::span<const std::string> path) const;  // all of the path
    bool covers(std::span<const std::string> path) const;   // the path or something above it
    std::string text() const;

    // The pointer that remains when each wildcard takes the segment that `path` has at the same depth
    // (segments beyond the path keep their text): how a currency finds the amount it belongs to.
    JsonPointer bound_to(std::span<const std::string> path) const;

    friend bool operator==(const JsonPattern&, const JsonPattern&) = default;

private:
    struct Segment {
        std::string text;
        bool any = false;
        friend bool operator==(const Segment&, const Segment&) = default;
    };
    std::vector<Segment> segments_;
};

}  // namespace opid
