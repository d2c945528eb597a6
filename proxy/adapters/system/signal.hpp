#pragma once
// Wakes one coroutine from another on the same thread. A set() that comes first is not lost.
#include <boost/asio/basic_waitable_timer.hpp>
#include <chrono>

#include "engine/task.hpp"

namespace opid {

class Signal {
public:
    explicit Signal(const Executor& executor) : parked_(executor, std::chrono::steady_clock::time_point::max()) {}

    void set() {
        set_ = true;
        parked_.cancel();
    }
    // Returns after the next set(), at once when there was one since the last wait().
    Task<> wait();

private:
    // A timer that never runs out: its queue owns the sleeping coroutine, so that nothing leaks at shutdown.
    boost::asio::basic_waitable_timer<std::chrono::steady_clock, boost::asio::wait_traits<std::chrono::steady_clock>,
                                      Executor>
        parked_;
    bool set_ = false;
};

}  // namespace opid
