#pragma once
// Where two intents differ, for the answer to a mismatch. Names and places only, never a value.
#include <string>
#include <vector>

#include "core/identity/intent.hpp"

namespace opid {

constexpr std::size_t differences_max = 50;
constexpr std::string_view more_differences = "...";  // the last entry when the list was cut

// Entries, in this order: "method"; "target" (scheme, authority, path or query); "header:NAME" (lower case;
// header:content-type for another media type); then the body: JSON pointers of members and elements that are missing,
// added or changed (a set is named as a whole), form fields and multipart parts as pointers, or "body" where nothing
// finer can be said. Empty exactly when the canonical intents are equal. A member name longer than 128 bytes is cut.
std::vector<std::string> differences(const Intent& first, const Intent& second, const IntentRules& rules,
                                     IntentLimits limits = {});

}  // namespace opid
