#pragma once
// Path patterns of rules: "*" one segment, "**" any number of them (none too), "{name}" captures one segment.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opid {

using PathCaptures = std::vector<std::pair<std::string, std::string>>;

class PathGlob {
public:
    // Begins with "/". "*" and "{name}" stand for whole segments. nullopt: error says why.
    static std::optional<PathGlob> parse(std::string_view text, std::string& error);

    // Path only, without query. Segments are compared as raw bytes; "*" and "{name}" never match an empty one.
    // Fills captures (may be null) only when it matches. Linear in segments of the path times those of the pattern.
    bool matches(std::string_view path, PathCaptures* captures) const;
    bool has_capture(std::string_view name) const;
    const std::string& text() const { return text_; }

private:
    enum class Kind : unsigned char { literal, one, many, capture };
    struct Segment {
        Kind kind = Kind::literal;
        std::string text;  // literal bytes or the capture's name
    };
    std::string text_;
    std::vector<Segment> segments_;
};

// The path that a server may read instead: %-escapes of unreserved characters decoded (RFC 3986 section 6.2.2.2),
// "." and ".." segments resolved, empty segments and a trailing slash dropped. nullopt where that is the path itself.
std::optional<std::string> other_reading_of(std::string_view path);

}  // namespace opid
