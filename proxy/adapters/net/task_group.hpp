#pragma once
// The parent of coroutines on one thread: it starts them, counts them and waits for them.
#include <cstddef>
#include <exception>

#include "adapters/system/signal.hpp"
#include "engine/task.hpp"

namespace opid {

class TaskGroup {
public:
    explicit TaskGroup(const Executor& executor) : executor_(executor), empty_(executor) {}

    void start(Task<> task);
    std::size_t running() const { return running_; }
    std::size_t broken() const { return broken_; }  // ended by an exception
    Task<> wait_until_empty();

private:
    Executor executor_;
    Signal empty_;
    std::size_t running_ = 0;
    std::size_t broken_ = 0;
};

}  // namespace opid
