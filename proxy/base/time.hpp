#pragma once
// Wall-clock time as stored and shown: milliseconds since 1970 UTC. Deadlines inside the process use
// the steady clock through engine/ports/timers.hpp; nothing else reads a clock.
#include <chrono>
#include <cstdint>

namespace opid {

using Millis = std::chrono::milliseconds;
using Instant = std::chrono::time_point<std::chrono::system_clock, Millis>;

inline std::int64_t to_unix_ms(Instant at) { return at.time_since_epoch().count(); }
inline Instant from_unix_ms(std::int64_t ms) { return Instant{Millis{ms}}; }

}  // namespace opid
