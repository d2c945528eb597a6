#pragma once
// Time for the engine. Real implementations use the wall clock for now() and the steady clock for waiting;
// the simulation moves both by hand.
#include <functional>
#include <memory>

#include "base/time.hpp"
#include "engine/task.hpp"

namespace opid {

class Timers {
public:
    virtual ~Timers() = default;
    virtual Instant now() const = 0;
    virtual Task<> sleep_for(Millis time) = 0;
    // Runs `action` on the executor after `time`, or up to a tenth of a second later, unless the returned handle is
    // dropped first. Both this call and the drop are on the executor's thread, or after its io_context has stopped.
    virtual std::shared_ptr<void> after(Executor executor, Millis time, std::function<void()> action) = 0;
};

}  // namespace opid
