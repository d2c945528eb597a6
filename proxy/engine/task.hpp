#pragma once
// The coroutine type of the engine and of everything that implements its ports. The executor is concrete:
// type-erased executors cost a measurable part of a request.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace opid {

using Executor = boost::asio::io_context::executor_type;

template <class T = void>
using Task = boost::asio::awaitable<T, Executor>;

inline constexpr boost::asio::use_awaitable_t<Executor> use_task{};

}  // namespace opid
