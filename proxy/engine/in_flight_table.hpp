#pragma once
// Who works on which operation in this process. One holder a key; everybody else waits for its result. Sharded by
// key, so that callers on many threads rarely meet at one lock.
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/operation/operation.hpp"
#include "engine/binding.hpp"
#include "engine/guarded_write.hpp"
#include "engine/ports/timers.hpp"
#include "engine/task.hpp"

namespace opid {

// What the holder leaves to those who waited.
struct SharedOutcome {
    Operation operation;                      // as it is now; its response is what each waiter is given
    std::shared_ptr<const std::string> body;  // of its response, where it has one that is kept
    std::optional<Problem> problem;           // what opid says itself; each waiter renders it in its own dialect
};

class InFlightTable {
public:
    struct Slot;
    using SlotPtr = std::shared_ptr<Slot>;

    // The slot if nobody holds the key; else null, and `held` is the slot to wait on.
    SlotPtr try_hold(const OperationKey& key, SlotPtr& held);

    // Says what the holder works on, so that a caller with another payload need not wait to be told. It stays where it
    // is, unchanged, until release().
    void bind(const SlotPtr& slot, const GuardedWrite* write);
    // A draft of what is bound if it differs from `write` in digest or provider; nothing where it is the same or not
    // bound yet.
    std::optional<Operation> bound_to_another(const SlotPtr& slot, const GuardedWrite& write, IntentLimits limits);
    bool has_waiters(const SlotPtr& slot);

    // Ends the hold and wakes everybody with the outcome (null: look again). Once per hold.
    void release(const SlotPtr& slot, std::shared_ptr<const SharedOutcome> outcome);

    struct Waited {
        bool ended = false;    // the holder is done; false: it took longer than the caller would wait
        bool admitted = true;  // false: too many wait already
        std::shared_ptr<const SharedOutcome> outcome;
    };
    // Waits for the holder of `slot`, at most `time`.
    Task<Waited> wait(SlotPtr slot, Timers& timers, Millis time, std::size_t waiters_max);

    std::size_t size() const;

private:
    struct KeyHash {
        std::size_t operator()(const OperationKey& key) const noexcept;
    };
    struct Shard {
        mutable std::mutex mutex;
        std::unordered_map<OperationKey, SlotPtr, KeyHash> slots;
    };
    Shard& shard_of(const OperationKey& key);
    static constexpr std::size_t shards = 64;
    std::array<Shard, shards> shards_;
};

}  // namespace opid
