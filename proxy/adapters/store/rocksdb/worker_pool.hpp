#pragma once
// A few named threads for work that may block, with a bounded queue, and the way back to a coroutine.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "adapters/store/completion.hpp"
#include "base/result.hpp"

namespace opid {

class WorkerPool {
public:
    class Job {
    public:
        virtual ~Job() = default;
        virtual void run() = 0;
    };

    WorkerPool(const std::string& name, unsigned threads, std::size_t queue_max);
    ~WorkerPool();  // runs what is queued, then joins
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    bool submit(std::unique_ptr<Job>& job);  // takes the job, or leaves it and returns false: full or stopped
    void stop();

private:
    void work();

    const std::size_t queue_max_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::unique_ptr<Job>> jobs_;
    bool stopped_ = false;
    std::vector<std::thread> threads_;
};

void name_this_thread(const std::string& name);

// For how long a thread of the store waits, never for what it decides.
std::chrono::steady_clock::time_point monotonic_now();

template <class T>
class OffloadedJob final : public WorkerPool::Job {
public:
    OffloadedJob(std::function<T()> work, std::unique_ptr<WaiterFor<T>> waiter)
        : work_(std::move(work)), waiter_(std::move(waiter)) {}

    void run() override {
        try {
            waiter_->result = work_();
        } catch (const std::exception& problem) {
            waiter_->result = Error(ErrorKind::internal, std::string("store: ") + problem.what());
        }
        deliver();
    }
    void refuse() {
        waiter_->result = Error(ErrorKind::overloaded, "too many reads wait for the disk");
        deliver();
    }

private:
    void deliver() {
        Hops hops;
        hops.add(std::move(waiter_));
        hops.post_all();
    }

    std::function<T()> work_;
    std::unique_ptr<WaiterFor<T>> waiter_;
};

// T is a Result. Overloaded where the queue is full.
template <class T>
Task<T> offload(WorkerPool& pool, std::function<T()> work) {
    return wait_for<T>([&pool, work = std::move(work)](std::unique_ptr<WaiterFor<T>> waiter) mutable {
        std::unique_ptr<WorkerPool::Job> job(new OffloadedJob<T>(std::move(work), std::move(waiter)));
        if (!pool.submit(job)) static_cast<OffloadedJob<T>&>(*job).refuse();
    });
}

}  // namespace opid
