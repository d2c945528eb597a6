#include "surfaces/admin/event_feed.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <utility>

#include "surfaces/admin/admin_reply.hpp"
#include "surfaces/admin/operation_json.hpp"

namespace opid {

struct EventFeed::Waiter {
    Executor executor;
    std::function<void()> complete;
    std::shared_ptr<void> timer;
    bool done = false;
};

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

// Completes once, on the waiter's executor, where its timer is dropped as well.
void EventFeed::wake(const std::shared_ptr<Waiter>& waiter) {
    if (std::exchange(waiter->done, true)) return;
    boost::asio::post(waiter->executor, [waiter] {
        const auto complete = std::move(waiter->complete);
        waiter->timer.reset();
        complete();
    });
}

void EventFeed::publish(std::string json) {
    const std::lock_guard lock(mutex_);
    FeedEvent event;
    event.number = ++newest_;
    event.json = std::move(json);
    ring_.push_back(std::move(event));
    if (ring_.size() > ring_events) ring_.pop_front();
    for (const auto& waiter : waiters_) wake(waiter);
    waiters_.clear();
}

void EventFeed::forget_waiters() {
    std::vector<std::shared_ptr<Waiter>> forgotten;
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

// The waiter lives in the feed and in its completion only. Were it in the coroutine's frame too, which the completion
// owns, a wait that never ends would keep itself alive.
Task<> EventFeed::wait(std::uint64_t number, Timers& timers, Millis time) {
    const Executor executor = co_await boost::asio::this_coro::executor;
    auto initiation = [this, executor, number, time, &timers](auto handler) {
        auto kept = std::make_shared<decltype(handler)>(std::move(handler));
        auto waiter = std::make_shared<Waiter>(Waiter{executor, {}, {}, false});
        waiter->complete = [kept] { std::move (*kept)(); };
        const std::lock_guard lock(mutex_);
        if (newest_ > number) {
            wake(waiter);
            return;
        }
        waiters_.push_back(waiter);
        const std::weak_ptr<Waiter> weak = waiter;
        waiter->timer = timers.after(executor, time, [this, weak] {
            const auto late = weak.lock();
            if (!late) return;
            const std::lock_guard relock(mutex_);
            std::erase(waiters_, late);
            wake(late);
        });
    };
    co_await boost::asio::async_initiate<decltype(use_task), void()>(initiation, use_task);
}

Task<FeedBatch> EventFeed::next(std::uint64_t number, Timers& timers, Millis time) {
    co_await wait(number, timers, time);
    const std::lock_guard lock(mutex_);
    co_return read(number);
}

}  // namespace opid
