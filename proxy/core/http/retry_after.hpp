#pragma once
// Retry-After (RFC 9110 section 10.2.3).
#include <optional>
#include <string_view>

#include "base/time.hpp"

namespace opid::http {

// How long to wait from `now`: seconds or an HTTP date, between 0 and `max`. Nothing when it is malformed.
std::optional<Millis> parse_retry_after(std::string_view text, Instant now, Millis max);

}  // namespace opid::http
