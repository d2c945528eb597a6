#include "app/deadline_store.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>

#include <exception>
#include <utility>

#include "core/operation/step.hpp"
#include "engine/ledger.hpp"
#include "engine/timed_wait.hpp"

namespace opid {
namespace {

constexpr Millis look_again{10};

Error too_late() { return {ErrorKind::timeout, "the store did not answer in time"}; }

void rethrow(std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
}

}  // namespace

// Who comes first, the store or the clock. Lives on one thread, and with the store as long as that works on the commit.
class DeadlineStore::Race final : public CommitListener {
public:
    Race(DeadlineStore& store, Executor executor, Subject subject, std::shared_ptr<CommitListener> caller)
        : store_(store),
          executor_(std::move(executor)),
          subject_(subject),
          caller_(std::move(caller)) {}

    void arm() {
        if (caller_) alarm_ = store_.timers_.after(executor_, store_.limit_, [this] { time_is_up(); });
    }

    void committed(Status status) override {
        alarm_.reset();
        const auto caller = std::exchange(caller_, nullptr);
        if (caller) return caller->committed(std::move(status));
        store_.ended_late(executor_, subject_, status.has_value());
    }

private:
    void time_is_up() {
        const auto caller = std::exchange(caller_, nullptr);
        if (!caller) return;
        store_.mark_late(subject_.key);
        caller->committed(too_late());
    }

    DeadlineStore& store_;
    Executor executor_;
    Subject subject_;
    std::shared_ptr<CommitListener> caller_;  // null: was answered
    std::shared_ptr<void> alarm_;
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

// False: a late commit of this record is still under way when the time is over.
Task<bool> DeadlineStore::settles(OperationKey key) {
    for (Millis waited{0}; is_late(key); waited += look_again) {
        if (waited >= limit_) co_return false;
        co_await timers_.sleep_for(look_again);
    }
    co_return true;
}

void DeadlineStore::ended_late(Executor executor, const Subject& subject, bool succeeded) {
    observer_.trouble("store", succeeded ? "a commit ended after its deadline" : "a commit failed after its deadline");
    if (!succeeded || subject.claim_version == 0) return settled(subject.key);
    boost::asio::co_spawn(executor, take_back(subject), rethrow);
}

namespace {

template <class T>
Task<> end_with(std::shared_ptr<TimedWait<T>> wait, Task<T> work) {
    T result = co_await std::move(work);
    TimedWait<T>::end(wait, std::move(result));
}

}  // namespace

template <class T>
Task<T> DeadlineStore::within_limit(Task<T> work) {
    auto started = std::make_shared<Task<T>>(std::move(work));
    auto enlist = [started](const typename TimedWait<T>::Ptr& wait) {
        boost::asio::co_spawn(wait->executor(), end_with<T>(wait, std::move(*started)), rethrow);
    };
    auto late = [](const typename TimedWait<T>::Ptr& wait) { TimedWait<T>::end(wait, too_late()); };
    return timed_wait<T>(timers_, limit_, std::move(enlist), std::move(late));
}

// The caller was told that nothing is recorded and sends nothing: that is proof for "not sent".
Task<> DeadlineStore::take_back(Subject subject) {
    auto loading = inner_.load(subject.key);
    Result<Loaded> loaded = co_await std::move(loading);
    auto* operation = loaded ? std::get_if<Operation>(&*loaded) : nullptr;
    Event event = NotSent{};
    std::get<NotSent>(event).evidence.failure = "the claim was recorded too late";
    if (operation != nullptr && operation->version == subject.claim_version &&
        advance(*operation, event, timers_.now(), "opid")) {
        Ledger ledger(inner_, observer_);
        const Status written = co_await ledger.write(*operation);
        static_cast<void>(written);
    }
    settled(subject.key);
}

void DeadlineStore::begin_commit(const Commit& commit, Executor executor, std::shared_ptr<CommitListener> listener) {
    Subject subject;
    subject.key = commit.operation.key;
    if (commit.operation.status == OperationStatus::in_progress) subject.claim_version = commit.operation.version;
    const auto race = std::make_shared<Race>(*this, executor, subject, std::move(listener));
    inner_.begin_commit(commit, executor, race);
    race->arm();
}

Task<Result<std::string>> DeadlineStore::allocate_step(std::string tenant, std::string step_name,
                                                       std::string proposed_id) {
    return within_limit(inner_.allocate_step(std::move(tenant), std::move(step_name), std::move(proposed_id)));
}

Task<Result<Loaded>> DeadlineStore::load(OperationKey key) {
    if (late_count_.load(std::memory_order_acquire) != 0) {
        const bool settled = co_await settles(key);
        if (!settled) co_return too_late();
    }
    std::optional<Result<Loaded>> cached = inner_.load_now(key);
    if (cached) co_return std::move(*cached);
    auto loading = within_limit(inner_.load(key));
    Result<Loaded> loaded = co_await std::move(loading);
    co_return loaded;
}

Task<Result<std::string>> DeadlineStore::load_body(OperationKey key, BodyPart part) {
    return within_limit(inner_.load_body(key, part));
}

Task<Status> DeadlineStore::remember(std::string fact) { return within_limit(inner_.remember(std::move(fact))); }

}  // namespace opid
