#pragma once
// Where a test binary puts itself between the parts. The shipped binary leaves all of them empty.
#include <functional>
#include <memory>

#include "adapters/http/data_plane.hpp"
#include "engine/ports/operation_store.hpp"
#include "engine/ports/timers.hpp"
#include "engine/ports/upstream.hpp"

namespace opid {

struct ApplicationHooks {
    std::function<std::unique_ptr<OperationStore>(OperationStore& inner, Timers& timers)> wrap_store;
    std::function<std::unique_ptr<Upstream>(Upstream& inner)> wrap_upstream;
    std::function<GuardedHandler(GuardedHandler inner)> wrap_handler;
};

}  // namespace opid
