#pragma once
// From what a profile says about a rule's key and ladder to the plan that core/operation/ladder.hpp follows.
#include <optional>
#include <vector>

#include "core/operation/ladder.hpp"
#include "core/profile/profile.hpp"

namespace opid {

// The margin where a profile gives none: a tenth of the window, at most ten minutes. Clocks differ, and providers
// count from when they saw the request.
Millis default_margin(Millis window);

// given: the profile's own ladder; none: a keyed retry where a key (or repeatable) allows it, then review.
// A keyed retry of an inherited ladder is dropped where neither is there.
RecoveryPlan make_recovery_plan(const KeyRule& key, const std::optional<std::vector<LadderStep>>& given,
                                bool repeatable, bool verified);

}  // namespace opid
