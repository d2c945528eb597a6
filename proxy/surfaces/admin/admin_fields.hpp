#pragma once
// The JSON object that an admin request brings, checked against the members that its route knows.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "core/identity/json_reader.hpp"

namespace opid {

class AdminFields {
public:
    // Errors (invalid): no JSON object, a member named twice, one that is not in `known`.
    static Result<AdminFields> parse(std::string_view body, std::span<const std::string_view> known);

    // A string of 1 to `bytes_max` bytes without control characters; a member that is not there is nullopt.
    Result<std::optional<std::string>> text(std::string_view name, std::size_t bytes_max = 1024) const;
    Result<std::string> needed_text(std::string_view name, std::size_t bytes_max = 1024) const;
    // "90s", "15m", "2h", "1d", or a number of seconds; 1 s to 400 days.
    Result<Millis> needed_duration(std::string_view name) const;
    std::optional<std::string> raw(std::string_view name) const;  // JSON text as written

private:
    struct Member {
        std::string name;
        JsonKind kind = JsonKind::null;
        std::string text;  // of a string: decoded
        std::string raw;
    };
    const Member* find(std::string_view name) const;
    std::vector<Member> members_;
};

}  // namespace opid
