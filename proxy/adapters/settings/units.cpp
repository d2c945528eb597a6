#include <array>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "adapters/settings/load_settings.hpp"

namespace opid {
namespace {

struct Unit64 {
    std::string_view name;
    std::uint64_t factor;
};
constexpr std::array<Unit64, 5> duration_units{{{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}}};
constexpr std::array<Unit64, 5> size_units{{{"", 1}, {"B", 1}, {"KiB", 1024}, {"MiB", 1u << 20}, {"GiB", 1u << 30}}};
constexpr std::uint64_t duration_max = 100ull * 366 * 86400000;  // a century: sums of a few can't overflow
constexpr std::uint64_t size_max = std::numeric_limits<std::int64_t>::max();

template <std::size_t N>
std::optional<std::uint64_t> parse_units(std::string_view text, const std::array<Unit64, N>& units,
                                         std::uint64_t most) {
    std::uint64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || end == text.data()) return std::nullopt;
    const std::string_view name = text.substr(static_cast<std::size_t>(end - text.data()));
    for (const Unit64& unit : units) {
        if (unit.name != name) continue;
        if (count > most / unit.factor) return std::nullopt;
        return count * unit.factor;
    }
    return std::nullopt;
}

}  // namespace

std::optional<Millis> parse_duration(std::string_view text) {
    const auto millis = parse_units(text, duration_units, duration_max);
    if (!millis) return std::nullopt;
    return Millis{static_cast<Millis::rep>(*millis)};
}

std::string format_duration(Millis duration) {
    if (duration.count() == 0) return "0s";
    for (const Unit64& unit : duration_units) {
        const auto factor = static_cast<Millis::rep>(unit.factor);
        if (duration.count() % factor == 0) return fmt::format("{}{}", duration.count() / factor, unit.name);
    }
    return fmt::format("{}ms", duration.count());
}

std::optional<std::uint64_t> parse_size(std::string_view text) { return parse_units(text, size_units, size_max); }

}  // namespace opid
