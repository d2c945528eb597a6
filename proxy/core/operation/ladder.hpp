#pragma once
// The recovery ladder: what may be done about an operation in doubt, and when. Pure.
#include <chrono>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/operation/operation.hpp"

namespace opid {

struct Backoff {
    Millis first{1000};
    Millis most{60000};
    // Doubles from first up to most; n counts from 0.
    Millis delay(unsigned n) const;
    friend bool operator==(const Backoff&, const Backoff&) = default;
};

// Same payload under the same provider key again.
struct KeyedRetryStep {
    std::uint32_t attempts = 5;  // sends in all, the first one included
    Backoff backoff;
    friend bool operator==(const KeyedRetryStep&, const KeyedRetryStep&) = default;
};

// A read at the provider that finds the effect by the operation's own mark.
struct LookUpStep {
    std::uint32_t attempts = 5;
    Millis settle{60000};     // how long the provider's read path may lag
    bool consistent = false;  // only then may "not found" after settle prove absence
    friend bool operator==(const LookUpStep&, const LookUpStep&) = default;
};

struct ReviewStep {
    friend bool operator==(const ReviewStep&, const ReviewStep&) = default;
};

using LadderStep = std::variant<KeyedRetryStep, LookUpStep, ReviewStep>;

// What the rule allows, with everything that the decision needs from the profile.
struct RecoveryPlan {
    std::vector<LadderStep> steps;     // in the profile's order; an empty list means review
    bool has_key = false;              // the provider honours a key on this rule
    bool repeatable = false;           // idempotent by its own meaning; needs no key
    bool cautious = false;             // unverified profile: no keyed retry
    std::optional<Millis> key_window;  // from the first send under the key, margin already taken off
    friend bool operator==(const RecoveryPlan&, const RecoveryPlan&) = default;
};

struct LadderMove {
    NextStepKind kind = NextStepKind::review;  // keyed_retry, look_up or review
    Instant not_before{};                      // now, or later where spacing is due
    std::string reason;                        // for review: why nothing else is left, in plain words
    friend bool operator==(const LadderMove&, const LadderMove&) = default;
};

// For an operation that is `unknown`. caller_waits: a caller's own retry goes at once (unless the
// provider asked to wait); opid's own steps are spaced by the backoff.
LadderMove next_move(const Operation& operation, const RecoveryPlan& plan, Instant now, bool caller_waits);

}  // namespace opid
