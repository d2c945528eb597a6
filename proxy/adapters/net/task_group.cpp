#include "adapters/net/task_group.hpp"

#include <boost/asio/co_spawn.hpp>

namespace opid {

void TaskGroup::start(Task<> task) {
    ++running_;
    boost::asio::co_spawn(executor_, std::move(task), [this](const std::exception_ptr& trouble) {
        --running_;
        if (trouble) ++broken_;
        if (running_ == 0) empty_.set();
    });
}

Task<> TaskGroup::wait_until_empty() {
    while (running_ > 0) co_await empty_.wait();
}

}  // namespace opid
