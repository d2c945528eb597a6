#pragma once
// Runs one task to its end on a context of its own, for the start and for commands.
#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <utility>

#include "base/result.hpp"
#include "engine/task.hpp"

namespace opid {

template <class T>
Result<T> run_now(Task<Result<T>> task) {
    boost::asio::io_context context{1};
    Result<T> result = Error(ErrorKind::internal, "did not run");
    const auto end = [&result](std::exception_ptr error, Result<T> value) {
        if (error) std::rethrow_exception(error);
        result = std::move(value);
    };
    boost::asio::co_spawn(context.get_executor(), std::move(task), end);
    context.run();
    return result;
}

}  // namespace opid
