#pragma once
// Everything that can happen to an operation. The state machine (step.hpp) knows no other cause.
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/operation/operation.hpp"

namespace opid {

// The owner is about to send. Durable before the first byte.
struct Claimed {
    std::string attempt_id;
    Owner owner;
    std::string provider_key;
    std::string key_carrier;
};

// No request byte was written: nothing can have happened.
struct NotSent {
    Evidence evidence;
};

// The provider answered in full.
struct Answered {
    Verdict verdict = Verdict::unknown;
    bool frozen = false;        // the provider keeps this answer under the key and gives it again
    bool names_object = false;  // the answer holds or points to the object (counts for duplicate)
    Evidence evidence;
    RecordedResponse response;
    std::string provider_ref;
    std::optional<Instant> retry_not_before;
};

// Bytes were written and no whole answer came: it may have happened.
struct Lost {
    Evidence evidence;
};

// The owner died or its lease ran out.
struct OwnerLost {};

// A look-up at the provider ended.
enum class LookUpResult : std::uint8_t { found_once, found_many, absent_proven, absent_unproven, failed };
struct LookedUp {
    LookUpResult result = LookUpResult::failed;
    std::string attempt_id;
    Evidence evidence;
    RecordedResponse response;  // found_once: the object
    std::string provider_ref;
    NextStep next;  // when to look again, for the inconclusive results
};

// The ladder has no automatic step left.
struct LadderEnded {
    std::string reason;
};

struct Approved {
    ApprovalRecord approval;
};
struct Denied {
    std::string actor;
    std::string reason;
};
struct ApprovalExpired {};

enum class Resolution : std::uint8_t { succeeded, failed, not_executed, cancelled };
struct Resolved {
    Resolution as = Resolution::cancelled;
    std::string actor;
    std::string reason;
    std::string provider_ref;
    std::optional<RecordedResponse> response;
};
struct Cancelled {
    std::string actor;
    std::string reason;
};

using Event = std::variant<Claimed, NotSent, Answered, Lost, OwnerLost, LookedUp, LadderEnded, Approved, Denied,
                           ApprovalExpired, Resolved, Cancelled>;

std::string_view to_word(const Event& event);  // "claimed", "not_sent", ...

}  // namespace opid
