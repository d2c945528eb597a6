#pragma once
// Time that only moves forward, for measuring how long something took or rested. Waiting goes through Deadlines.
#include <chrono>

namespace opid {

using SteadyInstant = std::chrono::steady_clock::time_point;

inline SteadyInstant steady_now() { return std::chrono::steady_clock::now(); }

}  // namespace opid
