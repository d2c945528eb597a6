#include "adapters/system/deadlines.hpp"

#include <algorithm>
#include <boost/asio/basic_waitable_timer.hpp>

#include "adapters/system/signal.hpp"

namespace opid {

namespace asio = boost::asio;
using SteadyTimer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Executor>;

struct Deadlines::Clock {
    explicit Clock(asio::io_context& context) : timer(context) {}
    SteadyTimer timer;
    const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

    std::uint64_t ticks() const {
        const auto passed = std::chrono::steady_clock::now() - start;
        return static_cast<std::uint64_t>(passed / Deadlines::tick);
    }
};

void Deadline::disarm() noexcept {
    if (owner_ == nullptr) return;
    unlink();
    --owner_->armed_;
    owner_ = nullptr;
}

Deadlines::Deadlines(asio::io_context& context) : clock_(std::make_unique<Clock>(context)) {}

Deadlines::~Deadlines() { shut_down(); }

void Deadlines::shut_down() noexcept {
    down_ = true;
    for (auto& slot : wheel_) {
        while (slot.next != &slot) static_cast<Deadline*>(slot.next)->disarm();
    }
    boost::system::error_code ignored;
    clock_->timer.cancel(ignored);
}

void Deadlines::arm(Deadline& deadline, Millis after, Deadline::Action action, void* context) {
    deadline.disarm();
    deadline.expired_ = false;
    if (down_) return;
    const std::uint64_t now = clock_->ticks();
    if (!running_) now_ = now;
    const auto wait = static_cast<std::uint64_t>((std::max(after, Millis{0}) + tick - Millis{1}) / tick);
    deadline.tick_ = now + wait + 1;  // the present tick may be almost over
    deadline.action_ = action;
    deadline.context_ = context;
    deadline.owner_ = this;
    detail::DeadlineLink& slot = wheel_[deadline.tick_ % slots];
    deadline.previous = slot.previous;
    deadline.next = &slot;
    slot.previous->next = &deadline;
    slot.previous = &deadline;
    ++armed_;
    if (!running_) schedule();
}

void Deadlines::schedule() {
    running_ = true;
    clock_->timer.expires_after(tick);
    clock_->timer.async_wait([this](const boost::system::error_code& error) {
        if (!error && !down_) sweep();
    });
}

void Deadlines::sweep() noexcept {
    const std::uint64_t until = clock_->ticks();
    const std::uint64_t steps = std::min<std::uint64_t>(until - std::min(until, now_), slots);
    detail::DeadlineLink due;
    for (std::uint64_t step = 0; step < steps; ++step) {
        detail::DeadlineLink& slot = wheel_[(until - step) % slots];
        for (auto* link = slot.next; link != &slot;) {
            auto* const following = link->next;
            if (static_cast<Deadline*>(link)->tick_ <= until) {
                link->unlink();
                link->previous = due.previous;
                link->next = &due;
                due.previous->next = link;
                due.previous = link;
            }
            link = following;
        }
    }
    now_ = until;
    // An action may arm and disarm any deadline, those that are due now included.
    while (due.next != &due) {
        auto* const deadline = static_cast<Deadline*>(due.next);
        deadline->disarm();
        deadline->expired_ = true;
        deadline->action_(deadline->context_);
    }
    if (armed_ > 0 && !down_) {
        schedule();
    } else {
        running_ = false;
    }
}

namespace {

class DeadlineService final : public asio::execution_context::service {
public:
    using key_type = DeadlineService;
    inline static asio::execution_context::id id;  // NOLINT: the name is Asio's

    explicit DeadlineService(asio::execution_context& owner)
        : service(owner),
          deadlines(static_cast<asio::io_context&>(owner)) {}
    void shutdown() override { deadlines.shut_down(); }

    Deadlines deadlines;
};

}  // namespace

Deadlines& deadlines_of(asio::io_context& context) { return asio::use_service<DeadlineService>(context).deadlines; }

Task<> coarse_sleep(Deadlines& deadlines, Millis time) {
    const Executor executor = co_await asio::this_coro::executor;
    Signal over(executor);
    Deadline deadline;
    deadlines.arm(
        deadline, time, [](void* signal) noexcept { static_cast<Signal*>(signal)->set(); }, &over);
    co_await over.wait();
}

}  // namespace opid
