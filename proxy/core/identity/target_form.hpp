#pragma once
// The parts of a canonical intent one by one, shared by its encoding and by the search for differences.
#include <string>
#include <string_view>

#include "core/identity/intent.hpp"

namespace opid {

struct CanonicalContent {
    CanonicalBody body;
    std::string coding;  // only where the content coding could not be undone, so that the bytes still wear it
};

std::string canonical_authority(std::string_view scheme_authority);
std::string canonical_path(std::string_view path, const IntentRules& rules);  // a captured key becomes "{name}"
std::string canonical_query(std::string_view query, const IntentRules& rules);
std::string canonical_media(const Intent& intent, BodyForm form);
CanonicalContent canonical_content(const Intent& intent, const IntentRules& rules, IntentLimits limits);

}  // namespace opid
