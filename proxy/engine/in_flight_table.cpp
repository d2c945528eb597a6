#include "engine/in_flight_table.hpp"

#include <cstring>
#include <utility>

#include "engine/timed_wait.hpp"

namespace opid {

struct InFlightTable::Slot {
    explicit Slot(const OperationKey& of) : key(of) {}
    const OperationKey key;
    std::mutex mutex;
    const GuardedWrite* write = nullptr;
    bool ended = false;
    std::shared_ptr<const SharedOutcome> outcome;
    std::vector<TimedWait<Waited>::Ptr> waiters;
};

std::size_t InFlightTable::KeyHash::operator()(const OperationKey& key) const noexcept {
    std::size_t hash = 0;
    std::memcpy(&hash, key.bytes.data() + 8, sizeof hash);  // a digest already; the first 8 bytes are the tenant's
    return hash;
}

InFlightTable::Shard& InFlightTable::shard_of(const OperationKey& key) { return shards_[key.bytes.back() % shards]; }

InFlightTable::SlotPtr InFlightTable::try_hold(const OperationKey& key, SlotPtr& held) {
    Shard& shard = shard_of(key);
    const std::lock_guard lock(shard.mutex);
    const auto [place, inserted] = shard.slots.try_emplace(key);
    if (!inserted) {
        held = place->second;
        return nullptr;
    }
    place->second = std::make_shared<Slot>(key);
    return place->second;
}

void InFlightTable::bind(const SlotPtr& slot, const GuardedWrite* write) {
    const std::lock_guard lock(slot->mutex);
    slot->write = write;
}

std::optional<Operation> InFlightTable::bound_to_another(const SlotPtr& slot, const GuardedWrite& write,
                                                         IntentLimits limits) {
    std::optional<GuardedWrite> held;
    {
        const std::lock_guard lock(slot->mutex);
        if (slot->write == nullptr || repeats(*slot->write, write)) return std::nullopt;
        held = *slot->write;  // to be looked at without the lock, as a canonical form takes its time
    }
    const Binding binding(*held, limits);
    const bool same_provider = held->profile->provider == write.profile->provider;
    if (same_provider && binding.digest() == Binding(write, limits).digest()) return std::nullopt;
    return draft_operation(*held, binding);
}

bool InFlightTable::has_waiters(const SlotPtr& slot) {
    const std::lock_guard lock(slot->mutex);
    return !slot->waiters.empty();
}

void InFlightTable::release(const SlotPtr& slot, std::shared_ptr<const SharedOutcome> outcome) {
    Shard& shard = shard_of(slot->key);
    {
        const std::lock_guard lock(shard.mutex);
        shard.slots.erase(slot->key);
    }
    const std::lock_guard lock(slot->mutex);
    slot->write = nullptr;
    slot->ended = true;
    slot->outcome = std::move(outcome);
    for (const auto& waiter : slot->waiters) {
        Waited result;
        result.ended = true;
        result.outcome = slot->outcome;
        TimedWait<Waited>::end(waiter, std::move(result));
    }
    slot->waiters.clear();
}

Task<InFlightTable::Waited> InFlightTable::wait(SlotPtr slot, Timers& timers, Millis time, std::size_t waiters_max) {
    using Wait = TimedWait<Waited>;
    auto enlist = [slot, time, waiters_max](const Wait::Ptr& wait) {
        const std::lock_guard lock(slot->mutex);
        Waited at_once;
        at_once.ended = slot->ended;
        at_once.outcome = slot->outcome;
        at_once.admitted = slot->waiters.size() < waiters_max;
        if (slot->ended || !at_once.admitted || time.count() <= 0) {
            Wait::end(wait, std::move(at_once));
        } else {
            slot->waiters.push_back(wait);
        }
    };
    auto late = [slot](const Wait::Ptr& wait) {
        const std::lock_guard lock(slot->mutex);
        std::erase(slot->waiters, wait);
        Wait::end(wait, Waited{});
    };
    return timed_wait<Waited>(timers, time, std::move(enlist), std::move(late));
}

std::size_t InFlightTable::size() const {
    std::size_t total = 0;
    for (const Shard& shard : shards_) {
        const std::lock_guard lock(shard.mutex);
        total += shard.slots.size();
    }
    return total;
}

}  // namespace opid
