#pragma once
// Real time: the wall clock to tell it, the steady clock to wait.
#include "engine/ports/timers.hpp"

namespace opid {

class SystemTimers final : public Timers {
public:
    Instant now() const override;
    Task<> sleep_for(Millis time) override;
    std::shared_ptr<void> after(Executor executor, Millis time, std::function<void()> action) override;
};

}  // namespace opid
