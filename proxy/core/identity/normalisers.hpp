#pragma once
// What a rule's normalisers do to one text. Each gives one representative for all texts that mean the same, and leaves
// a text that it does not understand (nullopt). The representative normalises to itself.
#include <optional>
#include <string>
#include <string_view>

namespace opid {

std::string_view trimmed(std::string_view text);  // space, tab, CR, LF, FF, VT at both ends
std::string ascii_folded(std::string_view text);
std::optional<std::string> normal_email(std::string_view text);      // trimmed, domain in lower case
std::optional<std::string> normal_timestamp(std::string_view text);  // RFC 3339 -> "2026-03-11T10:00:00.25Z"
// The amount in major units as canonical decimal; `integer_is_minor`: text without a point counts minor units.
std::optional<std::string> normal_money(std::string_view amount, std::string_view currency, bool integer_is_minor);

}  // namespace opid
