#pragma once
// Times for people and for JSON.
#include <string>

#include "base/time.hpp"

namespace opid {

std::string utc_seconds(Instant at);  // RFC 3339 in UTC, cut to the second: "2026-11-30T10:00:00Z"

}  // namespace opid
