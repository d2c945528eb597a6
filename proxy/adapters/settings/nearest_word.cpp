#include "adapters/settings/nearest_word.hpp"

#include <algorithm>

#include "base/encoding.hpp"

namespace opid {
namespace {

constexpr std::size_t word_bytes_max = 64;

std::string folded(std::string_view word) {
    std::string out = ascii_lower(word);
    std::replace(out.begin(), out.end(), '-', '_');
    return out;
}

// Optimal string alignment.
std::size_t edits(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
            }
        }
    }
    return cost[a.size()][b.size()];
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string_view>& known) {
    if (word.size() > word_bytes_max) return {};
    const std::string wanted = folded(word);
    std::string_view best;
    std::size_t fewest = word_bytes_max;
    for (const std::string_view candidate : known) {
        const std::size_t needed = edits(wanted, folded(candidate));
        if (needed < fewest && needed <= std::max<std::size_t>(1, candidate.size() / 3)) {
            fewest = needed;
            best = candidate;
        }
    }
    return std::string(best);
}

}  // namespace opid
