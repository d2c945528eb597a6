#include "adapters/system/system_timers.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <chrono>
#include <utility>

#include "adapters/system/deadlines.hpp"

namespace opid {

namespace {

using SteadyTimer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                      boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;

struct Alarm {
    Deadline deadline;
    std::function<void()> action;

    static void ring(void* alarm) noexcept {
        // The action may drop the handle, and the alarm with it.
        const std::function<void()> action = std::move(static_cast<Alarm*>(alarm)->action);
        action();
    }
};

}  // namespace

Instant SystemTimers::now() const { return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now()); }

Task<> SystemTimers::sleep_for(Millis time) {
    const Executor executor = co_await boost::asio::this_coro::executor;
    SteadyTimer timer(executor, time);
    auto over = timer.async_wait(boost::asio::as_tuple(use_task));
    co_await std::move(over);
}

std::shared_ptr<void> SystemTimers::after(Executor executor, Millis time, std::function<void()> action) {
    auto alarm = std::make_shared<Alarm>();
    alarm->action = std::move(action);
    deadlines_of(executor.context()).arm(alarm->deadline, time, Alarm::ring, alarm.get());
    return alarm;
}

}  // namespace opid
