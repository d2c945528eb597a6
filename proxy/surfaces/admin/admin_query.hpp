#pragma once
// A target taken apart: path segments and query values, percent-decoded.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opid {

struct AdminTarget {
    std::string path;                                        // raw
    std::vector<std::string> segments;                       // decoded, one for each part between slashes
    std::vector<std::pair<std::string, std::string>> query;  // decoded; "+" is a blank

    std::string_view value(std::string_view name) const;  // of the first of that name; empty: none
};

// Nothing for a broken escape.
std::optional<AdminTarget> parse_admin_target(std::string_view target);

}  // namespace opid
