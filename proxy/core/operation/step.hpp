#pragma once
// The state machine: operation and event in, next operation out. No clock, no I/O, no chance.
// tests/golden/transition_table.txt holds every pair of status and event with its result.
#include "core/operation/event.hpp"
#include "core/operation/operation.hpp"

namespace opid {

struct Transition {
    Operation next;
    bool allowed = true;  // false: this event may not meet this status; next is the unchanged operation
};

// Whether a send with this key in this place is one more attempt at what an earlier one may have done, to a provider
// that honours keys. The key is fixed while an earlier attempt may have used it.
bool same_key(const Operation& operation, std::string_view key, std::string_view carrier);

// Applies one event. An allowed transition adds one history event and stamps `updated`; the version is
// left to the store. actor is who caused it: "caller", "opid", or an admin token's name.
Transition step(Operation operation, Event event, Instant now, std::string_view actor);

// The same in place. False: the event may not meet this status, and both are as they were. A response that the
// operation keeps is taken out of the event.
[[nodiscard]] bool advance(Operation& operation, Event& event, Instant now, std::string_view actor);

// A new record, prepared or awaiting approval, with its first history event.
Operation register_operation(Operation draft, bool needs_approval, Instant now, std::string_view actor);

}  // namespace opid
