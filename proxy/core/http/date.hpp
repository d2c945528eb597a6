#pragma once
// HTTP dates (RFC 9110 section 5.6.7). Writing gives IMF-fixdate; reading takes the two obsolete forms as well.
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace opid::http {

// `Sun, 06 Nov 1994 08:49:37 GMT`, always 29 bytes. Years 0 to 9999; others are clamped.
std::array<char, 29> imf_fixdate_bytes(Instant at);
std::string imf_fixdate(Instant at);

// A two-digit year over 50 years ahead of `now` means the past century.
std::optional<Instant> parse_http_date(std::string_view text, Instant now);

}  // namespace opid::http
