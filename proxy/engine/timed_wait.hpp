#pragma once
// A coroutine that waits for something, but not for ever: whoever is first, the event or the clock, ends the wait once.
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>

#include <atomic>
#include <memory>
#include <utility>

#include "engine/ports/timers.hpp"
#include "engine/task.hpp"

namespace opid {

// Lives wherever its event will look for it, and in its completion. Dropped there without an end, it takes the waiting
// coroutine with it.
template <class T>
class TimedWait {
public:
    using Ptr = std::shared_ptr<TimedWait>;

    virtual ~TimedWait() = default;
    TimedWait(const TimedWait&) = delete;
    TimedWait& operator=(const TimedWait&) = delete;

    // Ends the wait with `result` unless it has ended. Any thread; the coroutine goes on in a step of its own on its
    // executor, and there the alarm is dropped.
    static bool end(const Ptr& wait, T result) {
        if (wait->ended_.exchange(true, std::memory_order_acq_rel)) return false;
        boost::asio::post(wait->executor_, [wait, result = std::move(result)]() mutable {
            wait->alarm_.reset();
            wait->go_on(std::move(result));
        });
        return true;
    }

    bool ended() const { return ended_.load(std::memory_order_acquire); }
    void arm(std::shared_ptr<void> alarm) { alarm_ = std::move(alarm); }  // on the executor's thread
    const Executor& executor() const { return executor_; }

protected:
    explicit TimedWait(Executor executor) : executor_(std::move(executor)) {}

private:
    virtual void go_on(T result) = 0;

    Executor executor_;
    std::shared_ptr<void> alarm_;
    std::atomic<bool> ended_{false};
};

namespace timed_wait_detail {

template <class T, class Handler>
class Held final : public TimedWait<T> {
public:
    explicit Held(Handler handler)
        : TimedWait<T>(boost::asio::get_associated_executor(handler)),
          handler_(std::move(handler)) {}

private:
    void go_on(T result) override { std::move(handler_)(std::move(result)); }

    Handler handler_;
};

}  // namespace timed_wait_detail

// Suspends and calls enlist(TimedWait<T>::Ptr), which puts the wait where its event will find it or ends it at once.
// Unless it has ended by then, late(Ptr) is called after `time`, on the executor, to take it away from there and to end
// it. The wait must not be kept in the frame of the coroutine that waits, which it owns: it would keep itself alive.
template <class T, class Enlist, class Late>
Task<T> timed_wait(Timers& timers, Millis time, Enlist enlist, Late late) {
    auto initiation = [&timers, time, enlist = std::move(enlist), late = std::move(late)](auto handler) mutable {
        using Handler = decltype(handler);
        const typename TimedWait<T>::Ptr wait = std::make_shared<timed_wait_detail::Held<T, Handler>>(
            std::move(handler));
        enlist(wait);
        if (wait->ended()) return;
        const std::weak_ptr<TimedWait<T>> weak = wait;
        auto ring = [weak, late = std::move(late)]() mutable {
            if (const auto kept = weak.lock()) late(kept);
        };
        wait->arm(timers.after(wait->executor(), time, std::move(ring)));
    };
    return boost::asio::async_initiate<decltype(use_task), void(T)>(std::move(initiation), use_task);
}

}  // namespace opid
