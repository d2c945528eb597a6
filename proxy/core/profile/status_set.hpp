#pragma once
// A set of HTTP statuses such as [2xx, 402, 500-504].
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opid {

class StatusSet {
public:
    StatusSet() = default;  // empty
    // Words: "402", "5xx", "500-504". nullopt where one is none of these or lies outside 100 to 599.
    static std::optional<StatusSet> parse(const std::vector<std::string>& words);
    bool contains(int status) const;
    bool empty() const { return ranges_.empty(); }
    std::string text() const;  // "2xx, 402"
    friend bool operator==(const StatusSet&, const StatusSet&) = default;

private:
    std::vector<std::pair<int, int>> ranges_;  // inclusive, as written
};

}  // namespace opid
