#include "core/profile/recovery_plan.hpp"

#include <algorithm>

namespace opid {
namespace {

constexpr Millis margin_max{600000};

}  // namespace

Millis default_margin(Millis window) { return std::min(window / 10, margin_max); }

RecoveryPlan make_recovery_plan(const KeyRule& key, const std::optional<std::vector<LadderStep>>& given,
                                bool repeatable, bool verified) {
    RecoveryPlan plan;
    plan.has_key = key.present();
    plan.repeatable = repeatable;
    plan.cautious = !verified || key.proof.has_value();
    if (key.present() && !key.window.unlimited()) {
        plan.key_window = std::max(key.window.length - key.window.margin, Millis{0});
    }
    const bool may_resend = plan.has_key || repeatable;
    if (!given) {
        if (may_resend) plan.steps.emplace_back(KeyedRetryStep{});
        plan.steps.emplace_back(ReviewStep{});
        return plan;
    }
    for (const LadderStep& step : *given) {
        if (std::holds_alternative<KeyedRetryStep>(step) && !may_resend) continue;
        plan.steps.push_back(step);
    }
    if (plan.steps.empty() || !std::holds_alternative<ReviewStep>(plan.steps.back())) {
        plan.steps.emplace_back(ReviewStep{});
    }
    return plan;
}

}  // namespace opid
