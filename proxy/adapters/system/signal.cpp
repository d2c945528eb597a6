#include "adapters/system/signal.hpp"

#include <boost/asio/as_tuple.hpp>

namespace opid {

Task<> Signal::wait() {
    while (!set_) {
        auto woken = parked_.async_wait(boost::asio::as_tuple(use_task));
        co_await std::move(woken);
    }
    set_ = false;
}

}  // namespace opid
