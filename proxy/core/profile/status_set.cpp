#include "core/profile/status_set.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace opid {
namespace {

std::optional<int> status_of(std::string_view text) {
    int status = 0;
    if (text.size() != 3) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), status);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    if (status < 100 || status > 599) return std::nullopt;
    return status;
}

std::optional<std::pair<int, int>> range_of(std::string_view word) {
    if (word.size() == 3 && word.substr(1) == "xx" && word[0] >= '1' && word[0] <= '5') {
        const int hundred = (word[0] - '0') * 100;
        return std::pair(hundred, hundred + 99);
    }
    const std::size_t dash = word.find('-');
    const auto first = status_of(word.substr(0, dash));
    if (!first) return std::nullopt;
    if (dash == std::string_view::npos) return std::pair(*first, *first);
    const auto last = status_of(word.substr(dash + 1));
    if (!last || *last < *first) return std::nullopt;
    return std::pair(*first, *last);
}

}  // namespace

std::optional<StatusSet> StatusSet::parse(const std::vector<std::string>& words) {
    StatusSet set;
    for (const std::string& word : words) {
        const auto range = range_of(word);
        if (!range) return std::nullopt;
        set.ranges_.push_back(*range);
    }
    return set;
}

bool StatusSet::contains(int status) const {
    return std::any_of(ranges_.begin(), ranges_.end(),
                       [status](const auto& range) { return status >= range.first && status <= range.second; });
}

std::string StatusSet::text() const {
    std::string text;
    for (const auto& [first, last] : ranges_) {
        if (!text.empty()) text += ", ";
        if (first == last) {
            text += fmt::format("{}", first);
        } else if (first % 100 == 0 && last == first + 99) {
            text += fmt::format("{}xx", first / 100);
        } else {
            text += fmt::format("{}-{}", first, last);
        }
    }
    return text;
}

}  // namespace opid
