// Deadlines, sleeping and waking on a real io_context. Times are compared with lower bounds only.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <vector>

#include "adapters/system/deadlines.hpp"
#include "adapters/system/signal.hpp"
#include "adapters/system/system_entropy.hpp"
#include "adapters/system/system_timers.hpp"

namespace opid {

namespace {

struct Note {
    std::vector<int>* order;
    int number;
};
void write_down(void* note) noexcept {
    auto& n = *static_cast<Note*>(note);
    n.order->push_back(n.number);
}

}  // namespace

TEST_CASE("deadlines fire in the order of their times and never early") {
    boost::asio::io_context context(1);
    Deadlines& deadlines = deadlines_of(context);
    std::vector<int> order;
    Note first{&order, 1};
    Note second{&order, 2};
    Deadline early;
    Deadline late;
    const auto start = std::chrono::steady_clock::now();
    deadlines.arm(late, Millis{180}, write_down, &second);
    deadlines.arm(early, Millis{60}, write_down, &first);
    CHECK(deadlines.armed() == 2);
    context.run();
    CHECK(order == std::vector<int>{1, 2});
    CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(180));
    CHECK(early.expired());
    CHECK(late.expired());
    CHECK(deadlines.armed() == 0);
}

TEST_CASE("a deadline that is disarmed or dies does not fire, and the wheel comes to rest") {
    boost::asio::io_context context(1);
    Deadlines& deadlines = deadlines_of(context);
    std::vector<int> order;
    Note note{&order, 1};
    Deadline disarmed;
    deadlines.arm(disarmed, Millis{50}, write_down, &note);
    disarmed.disarm();
    {
        Deadline dead;
        deadlines.arm(dead, Millis{50}, write_down, &note);
    }
    CHECK(deadlines.armed() == 0);
    context.run();  // returns: nothing is armed
    CHECK(order.empty());
    CHECK_FALSE(disarmed.expired());
}

TEST_CASE("arming again moves a deadline and forgets that it expired") {
    boost::asio::io_context context(1);
    Deadlines& deadlines = deadlines_of(context);
    std::vector<int> order;
    Note note{&order, 7};
    Deadline deadline;
    deadlines.arm(deadline, Millis{0}, write_down, &note);
    deadlines.arm(deadline, Millis{0}, write_down, &note);
    CHECK(deadlines.armed() == 1);
    context.run();
    CHECK(order == std::vector<int>{7});
    deadlines.arm(deadline, Millis{10}, write_down, &note);
    CHECK_FALSE(deadline.expired());
}

TEST_CASE("an action may disarm a deadline that is due in the same sweep") {
    boost::asio::io_context context(1);
    Deadlines& deadlines = deadlines_of(context);
    struct Pair {
        Deadline a;
        Deadline b;
        int fired = 0;
    } pair;
    const auto kill_other = [](void* p) noexcept {
        auto& both = *static_cast<Pair*>(p);
        ++both.fired;
        both.a.disarm();
        both.b.disarm();
    };
    deadlines.arm(pair.a, Millis{20}, kill_other, &pair);
    deadlines.arm(pair.b, Millis{20}, kill_other, &pair);
    context.run();
    CHECK(pair.fired == 1);
}

TEST_CASE("an io_context may go while deadlines are armed and coroutines sleep") {
    std::vector<int> order;
    Note note{&order, 1};
    Deadline outlives;
    {
        boost::asio::io_context context(1);
        Deadlines& deadlines = deadlines_of(context);
        deadlines.arm(outlives, Millis{60'000}, write_down, &note);
        boost::asio::co_spawn(context, coarse_sleep(deadlines, Millis{60'000}), [](const std::exception_ptr&) {});
        context.poll();
    }
    CHECK_FALSE(outlives.armed());
    CHECK(order.empty());
}

TEST_CASE("a signal that comes first is not lost, and one wait takes one signal") {
    boost::asio::io_context context(1);
    Signal signal(context.get_executor());
    int woken = 0;
    signal.set();
    const auto wait_once = [](Signal& s, int& count) -> Task<> {
        co_await s.wait();
        ++count;
    };
    boost::asio::co_spawn(context, wait_once(signal, woken), [](const std::exception_ptr&) {});
    context.run();
    CHECK(woken == 1);
    context.restart();
    boost::asio::co_spawn(context, wait_once(signal, woken), [](const std::exception_ptr&) {});
    context.poll();
    CHECK(woken == 1);
    signal.set();
    context.restart();
    context.run();
    CHECK(woken == 2);
}

TEST_CASE("an alarm whose handle was dropped does not ring") {
    boost::asio::io_context context(1);
    SystemTimers timers;
    int rung = 0;
    auto kept = timers.after(context.get_executor(), Millis{1}, [&rung] { ++rung; });
    auto dropped = timers.after(context.get_executor(), Millis{1}, [&rung] { rung += 100; });
    dropped.reset();
    context.run();
    CHECK(rung == 1);
}

TEST_CASE("entropy gives as many bytes as asked for, and others each time") {
    SystemEntropy entropy;
    CHECK(entropy.bytes(16).size() == 16);
    CHECK(entropy.bytes(16) != entropy.bytes(16));
}

}  // namespace opid
