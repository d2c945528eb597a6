#pragma once
// How a thread of the store hands a result back to a waiting coroutine: the coroutine's completion is kept as
// a Waiter, given its result on whatever thread, and resumed on the coroutine's own io_context. Results for one
// io_context travel together, in one post.
#include <memory>
#include <utility>
#include <vector>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include "engine/task.hpp"

namespace opid {

class Waiter {
public:
    explicit Waiter(Executor executor) : work_(std::move(executor)) {}
    virtual ~Waiter() = default;
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    Executor executor() const { return work_.get_executor(); }

    // On a thread of the executor. Takes itself, so that its memory is free before the coroutine goes on.
    virtual void resume(std::unique_ptr<Waiter> self) = 0;

private:
    boost::asio::executor_work_guard<Executor> work_;  // run() must not return while somebody waits
};

template <class T>
class WaiterFor : public Waiter {
public:
    using Waiter::Waiter;
    T result{};
};

// The results of one round, grouped by io_context. Few contexts: a linear search beats a map.
class Hops {
public:
    void add(std::unique_ptr<Waiter> waiter) {
        for (Group& group : groups_) {
            if (&group.front()->executor().context() == &waiter->executor().context()) {
                group.push_back(std::move(waiter));
                return;
            }
        }
        groups_.emplace_back().push_back(std::move(waiter));
    }

    void post_all() {
        for (Group& group : groups_) {
            const Executor executor = group.front()->executor();
            boost::asio::post(executor, Delivery{std::move(group), 0});
        }
        groups_.clear();
    }

private:
    using Group = std::vector<std::unique_ptr<Waiter>>;

    struct Delivery {
        Group waiters;
        std::size_t next;

        void operator()() {
            while (next < waiters.size()) {
                std::unique_ptr<Waiter> waiter = std::move(waiters[next++]);
                Waiter& self = *waiter;
                try {
                    self.resume(std::move(waiter));
                } catch (...) {
                    // One coroutine's bug must not leave the others waiting for ever.
                    if (next < waiters.size()) {
                        const Executor executor = waiters[next]->executor();
                        boost::asio::post(executor, Delivery{std::move(waiters), next});
                    }
                    throw;
                }
            }
        }
    };

    std::vector<Group> groups_;
};

namespace completion_detail {

template <class T, class Handler>
class Held final : public WaiterFor<T> {
public:
    explicit Held(Handler handler)
        : WaiterFor<T>(boost::asio::get_associated_executor(handler)), handler_(std::move(handler)) {}

    void resume(std::unique_ptr<Waiter> self) override {
        Handler handler = std::move(handler_);
        T value = std::move(this->result);
        self.reset();
        std::move(handler)(std::move(value));
    }

private:
    Handler handler_;
};

}  // namespace completion_detail

// Suspends the awaiting coroutine and calls start(std::unique_ptr<WaiterFor<T>>) once; whoever ends up with
// the waiter sets its result and gives it to Hops.
template <class T, class Start>
Task<T> wait_for(Start start) {
    return boost::asio::async_initiate<const boost::asio::use_awaitable_t<Executor>, void(T)>(
        [](auto handler, Start go) {
            using Handler = decltype(handler);
            go(std::unique_ptr<WaiterFor<T>>(new completion_detail::Held<T, Handler>(std::move(handler))));
        },
        use_task, std::move(start));
}

}  // namespace opid
