#pragma once
// Binds a write to its operation ID: the draft of its record, and whether a recorded operation is the same one. Pure.
#include <optional>
#include <string>
#include <vector>

#include "core/identity/intent.hpp"
#include "core/operation/operation.hpp"
#include "engine/guarded_write.hpp"

namespace opid {

OperationKey key_of(const GuardedWrite& write);

// What names a write: where its record lives and what it says. The digests are worked out when they are first asked
// for: a retry of the very same bytes needs no canonical form. Refers to the write. Used by one thread.
class Binding {
public:
    Binding(const GuardedWrite& write, IntentLimits limits) : key_(key_of(write)), write_(write), limits_(limits) {}

    const OperationKey& key() const { return key_; }
    const Digest& digest() const;
    const Digest& raw_digest() const;

private:
    OperationKey key_;
    const GuardedWrite& write_;
    IntentLimits limits_;
    mutable std::optional<Digest> digest_;
    mutable std::optional<Digest> raw_digest_;
};

// The record of a write that nobody has recorded yet; not registered, not stored.
Operation draft_operation(const GuardedWrite& write, const Binding& binding);
inline Operation draft_operation(const GuardedWrite& write, IntentLimits limits) {
    return draft_operation(write, Binding(write, limits));
}

// The intent as it was recorded, whole only when the request body is at hand. Credentials in its query are veiled.
Intent recorded_intent(const Operation& operation, std::string_view request_body);

// `intent` as the record of this key would keep it: without credentials. What is compared with a recorded one has to
// be, too.
Intent veiled(Intent intent, const OperationKey& key);

// Whether the targets differ, and only in what is veiled.
bool differ_in_credentials_alone(const Intent& a, const Intent& b);

// Whether the profile that made the recorded digest is the one in force now; if not, digests of the two can't be
// compared and both payloads are canonicalised anew.
bool comparable(const Operation& operation, const GuardedWrite& write);

// Whether `write` repeats the recorded request byte for byte, under the same rule of the same profile; then its
// canonical digest is the recorded one, whatever the rule. False says nothing.
bool repeats(const Operation& operation, const GuardedWrite& write, const Binding& binding);
bool repeats(const GuardedWrite& other, const GuardedWrite& write);

}  // namespace opid
