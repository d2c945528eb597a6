#include "core/operation/ladder.hpp"

#include <algorithm>

namespace opid {
namespace {

struct Chooser {
    const Operation& operation;
    const RecoveryPlan& plan;
    Instant now;
    bool caller_waits;
    std::string& reason;  // why the steps so far can't help

    std::optional<LadderMove> operator()(const KeyedRetryStep& retry) const {
        if (plan.cautious) {
            return no(
                "the key is not trusted for a second send: the profile is unverified, or the provider has not shown "
                "that it honours the key");
        }
        if (!plan.has_key && !plan.repeatable) return no("the provider honours no idempotency key here");
        if (!plan.repeatable && operation.provider_key.empty()) {
            return no("the attempt in doubt carried no key, so a second send would be a blind one");
        }
        if (operation.approval) return no("an approval licenses no second send of an operation in doubt");
        if (operation.keyed_retry_closed)
            return no("the provider's answer under this key is settled and tells nothing new");
        if (operation.sends >= retry.attempts) return no("all attempts under the key are used up");
        Instant at = now;
        if (!caller_waits) {
            const unsigned spaced = operation.sends > 0 ? operation.sends - 1 : 0;
            at = std::max(at, operation.updated + retry.backoff.delay(spaced));
        }
        if (operation.retry_not_before) at = std::max(at, *operation.retry_not_before);
        const bool bounded = !plan.repeatable && plan.key_window && operation.first_sent;
        if (bounded && at >= *operation.first_sent + *plan.key_window) {
            return no("the provider may have forgotten the key: its window is over");
        }
        return LadderMove{NextStepKind::keyed_retry, at, {}};
    }

    std::optional<LadderMove> operator()(const LookUpStep& look_up) const {
        if (operation.look_ups >= look_up.attempts) return no("the look-ups found nothing that decides it");
        return LadderMove{NextStepKind::look_up, now, {}};
    }

    std::optional<LadderMove> operator()(const ReviewStep&) const { return LadderMove{NextStepKind::review, now, {}}; }

    std::nullopt_t no(std::string_view why) const {
        if (!reason.empty()) reason += "; ";
        reason += why;
        return std::nullopt;
    }
};

}  // namespace

Millis Backoff::delay(unsigned n) const {
    Millis delay = first;
    for (unsigned i = 0; i < n && delay < most; ++i) delay *= 2;
    return std::min(delay, most);
}

LadderMove next_move(const Operation& operation, const RecoveryPlan& plan, Instant now, bool caller_waits) {
    std::string reason;
    const Chooser chooser{operation, plan, now, caller_waits, reason};
    for (const LadderStep& ladder_step : plan.steps) {
        std::optional<LadderMove> move = std::visit(chooser, ladder_step);
        if (!move) continue;
        if (move->kind == NextStepKind::review) break;
        return *move;
    }
    if (reason.empty()) reason = "the profile allows no automatic step";
    return LadderMove{NextStepKind::review, now, reason};
}

}  // namespace opid
