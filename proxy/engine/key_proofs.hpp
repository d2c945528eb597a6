#pragma once
// Where a profile demands proof that the provider honours its key (key.proof), a rule has no keyed retry until one
// answer has shown it. What was shown is kept in the store, so that a restart doesn't forget it, and by rule, address
// and carrier: another key, or the same at another address, has to be shown anew.
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/profile/profile.hpp"
#include "engine/ports/operation_store.hpp"
#include "engine/task.hpp"

namespace opid {

// Thread-safe.
class KeyProofs {
public:
    explicit KeyProofs(OperationStore& store) : store_(store) {}

    // Takes over what the store remembers.
    Task<Status> load();

    // The rule's ladder where proof is demanded and was seen; nothing where the rule's own ladder holds.
    // scheme_authority: as in the intent.
    std::optional<RecoveryPlan> proven_plan(const Profile& profile, const Rule& rule,
                                            std::string_view scheme_authority) const;
    // Durable when it returns success; counts from then on.
    Task<Status> note(const Profile& profile, const Rule& rule, std::string_view scheme_authority);

private:
    OperationStore& store_;
    mutable std::mutex mutex_;
    std::set<std::string> seen_;
};

}  // namespace opid
