#include "core/identity/currency.hpp"

#include <algorithm>
#include <string>

namespace opid {
namespace {

// ISO 4217, list one, where the minor unit is not 2. Sorted.
constexpr std::string_view no_decimals[] = {"BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG",
                                            "RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF"};
constexpr std::string_view three_decimals[] = {"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"};
constexpr std::string_view four_decimals[] = {"CLF", "UYW"};

template <std::size_t N>
bool among(const std::string_view (&codes)[N], std::string_view code) {
    return std::binary_search(std::begin(codes), std::end(codes), code);
}

}  // namespace

std::optional<int> currency_decimals(std::string_view code) {
    if (code.size() != 3) return std::nullopt;
    std::string upper;
    for (const char c : code) {
        if (c >= 'a' && c <= 'z') {
            upper.push_back(static_cast<char>(c - 32));
        } else if (c >= 'A' && c <= 'Z') {
            upper.push_back(c);
        } else {
            return std::nullopt;
        }
    }
    if (among(no_decimals, upper)) return 0;
    if (among(three_decimals, upper)) return 3;
    if (among(four_decimals, upper)) return 4;
    return 2;
}

}  // namespace opid
