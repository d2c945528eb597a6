#include "app/deadline_store.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include "core/operation/step.hpp"

namespace opid {
namespace {

constexpr Millis look_again{10};

}  // namespace

// Who comes first, the store or the clock. Lives on one thread.
template <class T>
struct DeadlineStore::Race {
    std::function<void(Result<T>)> complete;  // empty: the caller was answered
    std::shared_ptr<void> timer;

    bool finish(Result<T> result) {
        if (!complete) return false;
        const auto answer = std::exchange(complete, nullptr);
        timer.reset();
        answer(std::move(result));
        return true;
    }
};

void DeadlineStore::mark_late(const OperationKey& key) {
    const std::lock_guard lock(mutex_);
    late_.insert(key);
    late_count_.store(late_.size(), std::memory_order_release);
}

void DeadlineStore::settled(const OperationKey& key) {
    const std::lock_guard lock(mutex_);
    late_.erase(late_.find(key));
    late_count_.store(late_.size(), std::memory_order_release);
}

bool DeadlineStore::is_late(const OperationKey& key) const {
    const std::lock_guard lock(mutex_);
    return late_.contains(key);
}

Task<Result<Loaded>> DeadlineStore::load_when_settled(OperationKey key) {
    for (Millis waited{0}; is_late(key); waited += look_again) {
        if (waited >= limit_) co_return Error(ErrorKind::timeout, "the store did not answer in time");
        co_await timers_.sleep_for(look_again);
    }
    Result<Loaded> loaded = co_await inner_.load(key);
    co_return loaded;
}

template <class T>
Task<> DeadlineStore::run(std::shared_ptr<Race<T>> race, Task<Result<T>> work, Subject subject) {
    Result<T> result = co_await std::move(work);
    const bool succeeded = result.has_value();
    if (race->finish(std::move(result))) co_return;
    observer_.trouble("store", succeeded ? "a commit ended after its deadline" : "a commit failed after its deadline");
    if (succeeded && subject.claim_version != 0) co_await take_back(subject);
    if (subject.key) settled(*subject.key);
}

template <class T>
Task<Result<T>> DeadlineStore::within_limit(Task<Result<T>> work, Subject subject) {
    const Executor executor = co_await boost::asio::this_coro::executor;
    auto race = std::make_shared<Race<T>>();
    auto started = std::make_shared<Task<>>(run<T>(race, std::move(work), subject));
    auto initiation = [this, race, executor, started, subject](auto handler) {
        auto kept = std::make_shared<decltype(handler)>(std::move(handler));
        race->complete = [kept, executor](Result<T> result) {
            boost::asio::post(executor,
                              [kept, result = std::move(result)]() mutable { std::move (*kept)(std::move(result)); });
        };
        const std::weak_ptr<Race<T>> weak = race;
        race->timer = timers_.after(executor, limit_, [this, weak, subject] {
            const auto late = weak.lock();
            if (!late || !late->complete) return;
            if (subject.key) mark_late(*subject.key);
            late->finish(Error(ErrorKind::timeout, "the store did not answer in time"));
        });
        boost::asio::co_spawn(executor, std::move(*started), [](std::exception_ptr error) {
            if (error) std::rethrow_exception(error);
        });
    };
    Result<T> result = co_await boost::asio::async_initiate<decltype(use_task), void(Result<T>)>(initiation, use_task);
    co_return result;
}

// The caller was told that nothing is recorded and sends nothing: that is proof for "not sent".
Task<> DeadlineStore::take_back(Subject subject) {
    Result<Loaded> loaded = co_await inner_.load(*subject.key);
    auto* operation = loaded ? std::get_if<Operation>(&*loaded) : nullptr;
    if (operation == nullptr || operation->version != subject.claim_version) co_return;
    NotSent event;
    event.evidence.failure = "the claim was recorded too late";
    Transition transition = step(std::move(*operation), event, timers_.now(), "opid");
    if (!transition.allowed) co_return;
    Commit commit;
    commit.expected_version = subject.claim_version;
    commit.spilled = spill_history(transition.next);
    commit.operation = std::move(transition.next);
    ++commit.operation.version;
    const Operation moved = commit.operation;
    const Status written = co_await inner_.commit(std::move(commit));
    if (written && !moved.history.empty()) observer_.moved(moved, moved.history.back());
}

Task<Status> DeadlineStore::commit(Commit commit) {
    Subject subject;
    subject.key = commit.operation.key;
    if (commit.operation.status == OperationStatus::in_progress) subject.claim_version = commit.operation.version;
    return within_limit<Unit>(inner_.commit(std::move(commit)), subject);
}

Task<Result<std::string>> DeadlineStore::allocate_step(std::string tenant, std::string step_name,
                                                       std::string proposed_id) {
    return within_limit<std::string>(
        inner_.allocate_step(std::move(tenant), std::move(step_name), std::move(proposed_id)), Subject{});
}

}  // namespace opid
