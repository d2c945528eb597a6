#include "engine/in_flight_table.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include <cstring>
#include <utility>

namespace opid {
namespace {

// One caller that waits. Completes once, by the holder or by its timer, whoever is first under the slot's mutex.
struct Waiter {
    Executor executor;
    std::function<void(InFlightTable::Waited)> complete;
    std::shared_ptr<void> timer;
    bool done = false;
};

// The waiter's timer is dropped on its own executor, as its completion runs there.
void wake(const std::shared_ptr<Waiter>& waiter, InFlightTable::Waited result) {
    boost::asio::post(waiter->executor, [waiter, result = std::move(result)]() mutable {
        const auto complete = std::move(waiter->complete);
        waiter->timer.reset();
        complete(std::move(result));
    });
}

}  // namespace

struct InFlightTable::Slot {
    explicit Slot(const OperationKey& of) : key(of) {}
    const OperationKey key;
    std::mutex mutex;
    const Operation* operation = nullptr;
    bool ended = false;
    std::shared_ptr<const SharedOutcome> outcome;
    std::vector<std::shared_ptr<Waiter>> waiters;
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

void InFlightTable::bind(const SlotPtr& slot, const Operation* operation) {
    const std::lock_guard lock(slot->mutex);
    slot->operation = operation;
}

std::optional<Operation> InFlightTable::bound_to_another(const SlotPtr& slot, const Operation& mine) {
    const std::lock_guard lock(slot->mutex);
    const Operation* bound = slot->operation;
    if (bound == nullptr || (bound->digest == mine.digest && bound->provider == mine.provider)) return std::nullopt;
    return *bound;
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
    slot->operation = nullptr;
    slot->ended = true;
    slot->outcome = std::move(outcome);
    for (const auto& waiter : slot->waiters) {
        if (std::exchange(waiter->done, true)) continue;
        Waited result;
        result.ended = true;
        result.outcome = slot->outcome;
        wake(waiter, std::move(result));
    }
    slot->waiters.clear();
}

Task<InFlightTable::Waited> InFlightTable::wait(SlotPtr slot, Timers& timers, Millis time, std::size_t waiters_max) {
    const Executor executor = co_await boost::asio::this_coro::executor;
    // The waiter lives in the slot and in its completion only. Were it in this frame too, which the completion owns,
    // a wait that never ends would keep itself alive.
    auto initiation = [slot, executor, time, waiters_max, &timers](auto handler) {
        auto kept = std::make_shared<decltype(handler)>(std::move(handler));
        auto waiter = std::make_shared<Waiter>(Waiter{executor, {}, {}, false});
        waiter->complete = [kept](Waited result) { std::move (*kept)(std::move(result)); };
        const std::lock_guard lock(slot->mutex);
        Waited at_once;
        at_once.ended = slot->ended;
        at_once.outcome = slot->outcome;
        at_once.admitted = slot->waiters.size() < waiters_max;
        if (slot->ended || !at_once.admitted || time.count() <= 0) {
            waiter->done = true;
            wake(waiter, std::move(at_once));
            return;
        }
        slot->waiters.push_back(waiter);
        const std::weak_ptr<Waiter> weak = waiter;
        waiter->timer = timers.after(waiter->executor, time, [slot, weak] {
            const auto late = weak.lock();
            if (!late) return;
            const std::lock_guard relock(slot->mutex);
            if (std::exchange(late->done, true)) return;
            std::erase(slot->waiters, late);
            wake(late, Waited{});
        });
    };
    Waited result = co_await boost::asio::async_initiate<decltype(use_task), void(Waited)>(initiation, use_task);
    co_return result;
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
