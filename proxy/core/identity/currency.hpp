#pragma once
// Minor units of currencies.
#include <optional>
#include <string_view>

namespace opid {

// Decimal places by ISO 4217 (0, 3 or 4 for those that have them, else 2), in any case of letters.
// nullopt where the code is not three ASCII letters.
std::optional<int> currency_decimals(std::string_view code);

}  // namespace opid
