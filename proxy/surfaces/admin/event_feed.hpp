#pragma once
// What happened, for those who watch: a bounded ring of events that each watcher reads at its own pace. Nobody watching
// yet costs one relaxed load an event.
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/ports/observer.hpp"
#include "engine/ports/timers.hpp"
#include "engine/timed_wait.hpp"

namespace opid {

struct FeedEvent {
    std::uint64_t number = 0;  // from 1, grows by one
    std::string json;
};

struct FeedBatch {
    std::vector<FeedEvent> events;  // empty: nothing happened in that time
    bool missed = false;            // events before these are gone from the ring
};

// Thread-safe.
class EventFeed final : public Observer {
public:
    static constexpr std::size_t ring_events = 1024;
    static constexpr std::size_t batch_events = 64;

    void moved(const Operation& operation, const HistoryEvent& event) noexcept override;
    void answered(std::string_view, std::string_view) noexcept override {}
    void trouble(std::string_view where, std::string_view what) noexcept override;

    // From now on events are kept. The number of the newest one so far.
    std::uint64_t watch();
    // What came after `number`; waits for it at most `time`.
    Task<FeedBatch> next(std::uint64_t number, Timers& timers, Millis time);

    // Ends every wait without resuming it. For an owner of the io_context that they run on, which has stopped and is
    // about to be destroyed: their timers must not outlive it.
    void forget_waiters();

private:
    void publish(std::string json);
    FeedBatch read(std::uint64_t number) const;  // under the lock
    Task<Unit> wait(std::uint64_t number, Timers& timers, Millis time);

    std::atomic<bool> watched_{false};
    mutable std::mutex mutex_;
    std::deque<FeedEvent> ring_;
    std::uint64_t newest_ = 0;
    std::vector<TimedWait<Unit>::Ptr> waiters_;
};

}  // namespace opid
