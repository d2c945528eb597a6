#include "core/http/retry_after.hpp"

#include <algorithm>

#include "base/encoding.hpp"
#include "core/http/date.hpp"
#include "core/http/octets.hpp"

namespace opid::http {

std::optional<Millis> parse_retry_after(std::string_view text, Instant now, Millis max) {
    text = trim_blank(text);
    if (text.empty()) return std::nullopt;
    if (!std::all_of(text.begin(), text.end(), is_digit)) {
        const auto at = parse_http_date(text, now);
        if (!at) return std::nullopt;
        return std::clamp(*at - now, Millis{0}, max);
    }
    std::int64_t seconds = 0;
    for (const char c : text) {
        seconds = seconds * 10 + (c - '0');
        if (seconds > max.count() / 1000) return max;
    }
    return Millis{seconds * 1000};
}

}  // namespace opid::http
