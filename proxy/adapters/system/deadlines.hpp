#pragma once
// Coarse deadlines, thousands at a time: one list node each, swept by one timer per io_context that runs only while
// something is armed. A deadline fires between its time and two ticks later, never early. Steady clock.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/time.hpp"
#include "engine/task.hpp"

namespace opid {

class Deadlines;

namespace detail {
struct DeadlineLink {
    DeadlineLink* previous = this;
    DeadlineLink* next = this;
    void unlink() noexcept {
        previous->next = next;
        next->previous = previous;
        previous = next = this;
    }
};
}  // namespace detail

// One alarm. Disarmed when it dies. Lives on the thread of its Deadlines.
class Deadline : private detail::DeadlineLink {
public:
    using Action = void (*)(void* context) noexcept;

    Deadline() = default;
    Deadline(const Deadline&) = delete;
    Deadline& operator=(const Deadline&) = delete;
    ~Deadline() { disarm(); }

    void disarm() noexcept;
    bool armed() const noexcept { return owner_ != nullptr; }
    bool expired() const noexcept { return expired_; }  // fired since it was armed last

private:
    friend class Deadlines;
    Deadlines* owner_ = nullptr;
    std::uint64_t tick_ = 0;
    Action action_ = nullptr;
    void* context_ = nullptr;
    bool expired_ = false;
};

class Deadlines {
public:
    static constexpr Millis tick{50};

    explicit Deadlines(boost::asio::io_context& context);
    ~Deadlines();
    Deadlines(const Deadlines&) = delete;
    Deadlines& operator=(const Deadlines&) = delete;

    // Runs action(context) once after `after`, on this io_context's thread. Arming again moves the deadline.
    void arm(Deadline& deadline, Millis after, Deadline::Action action, void* context);
    std::size_t armed() const noexcept { return armed_; }

    void shut_down() noexcept;  // nothing fires any more

private:
    friend class Deadline;
    struct Clock;
    static constexpr std::size_t slots = 512;

    void schedule();
    void sweep() noexcept;

    std::unique_ptr<Clock> clock_;
    std::array<detail::DeadlineLink, slots> wheel_;
    std::uint64_t now_ = 0;  // swept up to here
    std::size_t armed_ = 0;
    bool running_ = false;
    bool down_ = false;
};

// The one of this io_context, made on first use and gone with it.
Deadlines& deadlines_of(boost::asio::io_context& context);

// Waits without a timer of its own; two ticks coarse.
Task<> coarse_sleep(Deadlines& deadlines, Millis time);

}  // namespace opid
