#pragma once
// Binds a write to its operation ID: the draft of its record, and whether a recorded operation is the same one. Pure.
#include <string>
#include <vector>

#include "core/identity/intent.hpp"
#include "core/operation/operation.hpp"
#include "engine/guarded_write.hpp"

namespace opid {

OperationKey key_of(const GuardedWrite& write);

// What names a write: where its record lives and what it says.
struct Binding {
    OperationKey key;
    Digest digest{};
    Digest raw_digest{};
};
Binding binding_of(const GuardedWrite& write, IntentLimits limits);

// The record of a write that nobody has recorded yet; not registered, not stored.
Operation draft_operation(const GuardedWrite& write, const Binding& binding);
inline Operation draft_operation(const GuardedWrite& write, IntentLimits limits) {
    return draft_operation(write, binding_of(write, limits));
}

// The intent as it was recorded, whole only when the request body is at hand.
Intent recorded_intent(const Operation& operation, std::string_view request_body);

// Whether the profile that made the recorded digest is the one in force now; if not, digests of the two can't be
// compared and both payloads are canonicalised anew.
bool comparable(const Operation& operation, const GuardedWrite& write);

}  // namespace opid
