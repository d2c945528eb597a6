#include "surfaces/admin/event_feed.hpp"

#include <algorithm>
#include <utility>

#include "surfaces/admin/admin_reply.hpp"
#include "surfaces/admin/operation_json.hpp"

namespace opid {

namespace {

void member(std::string& json, std::string_view name, std::string_view value) {
    json += json.size() > 1 ? "," : "";
    json += json_text(name) + ":" + json_text(value);
}

}  // namespace

void EventFeed::moved(const Operation& operation, const HistoryEvent& event) noexcept {
    if (!watched_.load(std::memory_order_relaxed)) return;
    std::string json = "{";
    member(json, "kind", "operation");
    member(json, "at", format_instant(event.at));
    member(json, "operation_id", operation.id);
    member(json, "tenant", operation.tenant);
    member(json, "provider", operation.provider);
    member(json, "rule", operation.rule);
    member(json, "what", event.what);
    member(json, "actor", event.actor);
    member(json, "from", to_word(event.from));
    member(json, "to", to_word(event.to));
    publish(json + "}");
}

void EventFeed::trouble(std::string_view where, std::string_view what) noexcept {
    if (!watched_.load(std::memory_order_relaxed)) return;
    std::string json = "{";
    member(json, "kind", "trouble");
    member(json, "where", where);
    member(json, "what", what);
    publish(json + "}");
}

void EventFeed::publish(std::string json) {
    const std::lock_guard lock(mutex_);
    FeedEvent event;
    event.number = ++newest_;
    event.json = std::move(json);
    ring_.push_back(std::move(event));
    if (ring_.size() > ring_events) ring_.pop_front();
    for (const auto& waiter : waiters_) TimedWait<Unit>::end(waiter, Unit{});
    waiters_.clear();
}

void EventFeed::forget_waiters() {
    std::vector<TimedWait<Unit>::Ptr> forgotten;
    {
        const std::lock_guard lock(mutex_);
        forgotten.swap(waiters_);
    }
}

std::uint64_t EventFeed::watch() {
    watched_.store(true, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    return newest_;
}

FeedBatch EventFeed::read(std::uint64_t number) const {
    FeedBatch batch;
    const std::uint64_t oldest = ring_.empty() ? newest_ + 1 : ring_.front().number;
    batch.missed = number + 1 < oldest;
    const auto first = std::find_if(ring_.begin(), ring_.end(),
                                    [number](const FeedEvent& event) { return event.number > number; });
    for (auto at = first; at != ring_.end() && batch.events.size() < batch_events; ++at) batch.events.push_back(*at);
    return batch;
}

Task<Unit> EventFeed::wait(std::uint64_t number, Timers& timers, Millis time) {
    using Wait = TimedWait<Unit>;
    auto enlist = [this, number](const Wait::Ptr& wait) {
        const std::lock_guard lock(mutex_);
        if (newest_ > number) {
            Wait::end(wait, Unit{});
        } else {
            waiters_.push_back(wait);
        }
    };
    auto late = [this](const Wait::Ptr& wait) {
        const std::lock_guard lock(mutex_);
        std::erase(waiters_, wait);
        Wait::end(wait, Unit{});
    };
    return timed_wait<Unit>(timers, time, std::move(enlist), std::move(late));
}

Task<FeedBatch> EventFeed::next(std::uint64_t number, Timers& timers, Millis time) {
    const Unit ended = co_await wait(number, timers, time);
    static_cast<void>(ended);
    const std::lock_guard lock(mutex_);
    co_return read(number);
}

}  // namespace opid
