#include "adapters/system/system_timers.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <chrono>

namespace opid {

namespace {

using SteadyTimer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                      boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;

// The handler holds it weakly: dropping the handle also stops an action whose timer has run out already.
struct Alarm {
    explicit Alarm(const Executor& executor) : timer(executor) {}
    SteadyTimer timer;
    std::function<void()> action;
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
    auto alarm = std::make_shared<Alarm>(executor);
    alarm->action = std::move(action);
    alarm->timer.expires_after(time);
    alarm->timer.async_wait([weak = std::weak_ptr<Alarm>(alarm)](const boost::system::error_code& error) {
        const auto held = weak.lock();
        if (held && !error) held->action();
    });
    return alarm;
}

}  // namespace opid
