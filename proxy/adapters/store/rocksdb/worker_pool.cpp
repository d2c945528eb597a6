#include "adapters/store/rocksdb/worker_pool.hpp"

#include <pthread.h>

namespace opid {

void name_this_thread(const std::string& name) { ::pthread_setname_np(::pthread_self(), name.c_str()); }

std::chrono::steady_clock::time_point monotonic_now() {
    return std::chrono::steady_clock::now();  // tidy: allow(real clock) a condition variable knows no other
}

WorkerPool::WorkerPool(const std::string& name, unsigned threads, std::size_t queue_max) : queue_max_(queue_max) {
    for (unsigned i = 0; i < threads; ++i) {
        threads_.emplace_back([this, name] {
            name_this_thread(name);
            work();
        });
    }
}

WorkerPool::~WorkerPool() { stop(); }

void WorkerPool::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) {
        if (thread.joinable()) thread.join();
    }
}

bool WorkerPool::submit(std::unique_ptr<Job>& job) {
    {
        const std::lock_guard lock(mutex_);
        if (stopped_ || jobs_.size() >= queue_max_) return false;
        jobs_.push_back(std::move(job));
    }
    wake_.notify_one();
    return true;
}

void WorkerPool::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock, [this] { return stopped_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        const std::unique_ptr<Job> job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job->run();
        lock.lock();
    }
}

}  // namespace opid
