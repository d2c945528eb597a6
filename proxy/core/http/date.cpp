#include "core/http/date.hpp"

#include <algorithm>
#include <chrono>

#include "core/http/octets.hpp"

namespace opid::http {
namespace {

using namespace std::chrono;

constexpr std::string_view day_names = "SunMonTueWedThuFriSat";
constexpr std::string_view month_names = "JanFebMarAprMayJunJulAugSepOctNovDec";
constexpr std::array<std::string_view, 7> long_day_names{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                         "Thursday", "Friday", "Saturday"};

struct Civil {
    int year = 0;
    unsigned month = 0;
    unsigned day = 0;
    unsigned hour = 0;
    unsigned minute = 0;
    unsigned second = 0;
};

// Reads a date from left to right; the first mismatch makes it invalid for good.
class DateReader {
public:
    explicit DateReader(std::string_view text) : rest_(text) {}
    bool sound() const { return sound_; }
    bool ended() const { return sound_ && rest_.empty(); }

    void expect(std::string_view literal) {
        if (rest_.substr(0, literal.size()) != literal) sound_ = false;
        drop(literal.size());
    }
    unsigned number(std::size_t digits) {
        unsigned value = 0;
        if (rest_.size() < digits) sound_ = false;
        for (const char c : rest_.substr(0, digits)) {
            if (!is_digit(c)) sound_ = false;
            value = value * 10 + static_cast<unsigned>(c - '0');
        }
        drop(digits);
        return value;
    }
    unsigned name_of(std::string_view names) {  // 1 is the first
        const std::string_view name = rest_.substr(0, 3);
        const std::size_t at = name.size() == 3 ? names.find(name) : std::string_view::npos;
        if (at == std::string_view::npos || at % 3 != 0) sound_ = false;
        drop(3);
        return static_cast<unsigned>(at / 3 + 1);
    }
    void clock(Civil& out) {
        out.hour = number(2);
        expect(":");
        out.minute = number(2);
        expect(":");
        out.second = number(2);
    }
    unsigned padded_day() {  // two places, the first may be a blank
        if (rest_.substr(0, 1) != " ") return number(2);
        drop(1);
        return number(1);
    }

private:
    void drop(std::size_t count) { rest_.remove_prefix(std::min(count, rest_.size())); }
    std::string_view rest_;
    bool sound_ = true;
};

std::optional<Instant> to_instant(const Civil& civil) {
    const year_month_day date{year{civil.year}, month{civil.month}, day{civil.day}};
    if (!date.ok() || civil.hour > 23 || civil.minute > 59 || civil.second > 60) return std::nullopt;
    return Instant{sys_days{date} + hours{civil.hour} + minutes{civil.minute} + seconds{civil.second}};
}

std::optional<Instant> parse_imf(std::string_view text) {
    DateReader in(text);
    Civil civil;
    in.name_of(day_names);
    in.expect(", ");
    civil.day = in.number(2);
    in.expect(" ");
    civil.month = in.name_of(month_names);
    in.expect(" ");
    civil.year = static_cast<int>(in.number(4));
    in.expect(" ");
    in.clock(civil);
    in.expect(" GMT");
    return in.ended() ? to_instant(civil) : std::nullopt;
}

std::optional<Instant> parse_rfc850(std::string_view text, Instant now) {
    const std::string_view weekday = text.substr(0, text.find(','));
    if (std::find(long_day_names.begin(), long_day_names.end(), weekday) == long_day_names.end()) return std::nullopt;
    DateReader in(text.substr(weekday.size()));
    Civil civil;
    in.expect(", ");
    civil.day = in.number(2);
    in.expect("-");
    civil.month = in.name_of(month_names);
    in.expect("-");
    const int short_year = static_cast<int>(in.number(2));
    in.expect(" ");
    in.clock(civil);
    in.expect(" GMT");
    if (!in.ended()) return std::nullopt;
    const int this_year = static_cast<int>(year_month_day{floor<days>(now)}.year());
    civil.year = this_year - this_year % 100 + short_year;
    if (civil.year > this_year + 50) civil.year -= 100;
    return to_instant(civil);
}

std::optional<Instant> parse_asctime(std::string_view text) {
    DateReader in(text);
    Civil civil;
    in.name_of(day_names);
    in.expect(" ");
    civil.month = in.name_of(month_names);
    in.expect(" ");
    civil.day = in.padded_day();
    in.expect(" ");
    in.clock(civil);
    in.expect(" ");
    civil.year = static_cast<int>(in.number(4));
    return in.ended() ? to_instant(civil) : std::nullopt;
}

}  // namespace

std::array<char, 29> imf_fixdate_bytes(Instant at) {
    constexpr sys_days first{year{0} / 1 / 1};
    constexpr sys_days behind_last{year{10000} / 1 / 1};
    const Instant clamped = std::clamp(at, Instant{first}, Instant{behind_last} - Millis{1});
    const auto date_point = floor<days>(clamped);
    const year_month_day date{date_point};
    const hh_mm_ss time{floor<seconds>(clamped - date_point)};
    std::array<char, 29> out{};
    std::size_t size = 0;
    const auto text = [&](std::string_view part) {
        for (const char c : part) out[size++] = c;
    };
    const auto two = [&](unsigned value) {
        out[size++] = static_cast<char>('0' + value / 10 % 10);
        out[size++] = static_cast<char>('0' + value % 10);
    };
    const auto years = static_cast<unsigned>(static_cast<int>(date.year()));
    text(day_names.substr(weekday{date_point}.c_encoding() * 3, 3));
    text(", ");
    two(static_cast<unsigned>(date.day()));
    text(" ");
    text(month_names.substr((static_cast<unsigned>(date.month()) - 1) * 3, 3));
    text(" ");
    two(years / 100);
    two(years);
    text(" ");
    two(static_cast<unsigned>(time.hours().count()));
    text(":");
    two(static_cast<unsigned>(time.minutes().count()));
    text(":");
    two(static_cast<unsigned>(time.seconds().count()));
    text(" GMT");
    return out;
}

std::string imf_fixdate(Instant at) {
    const auto bytes = imf_fixdate_bytes(at);
    return std::string(bytes.data(), bytes.size());
}

std::optional<Instant> parse_http_date(std::string_view text, Instant now) {
    if (const auto imf = parse_imf(text)) return imf;
    if (const auto rfc850 = parse_rfc850(text, now)) return rfc850;
    return parse_asctime(text);
}

}  // namespace opid::http
