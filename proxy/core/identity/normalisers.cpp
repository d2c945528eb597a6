#include "core/identity/normalisers.hpp"

#include <fmt/format.h>

#include <chrono>

#include "base/encoding.hpp"
#include "core/identity/currency.hpp"
#include "core/identity/decimal.hpp"

namespace opid {
namespace {

// `count` digits at `at`; -1 where something else stands there.
int number_at(std::string_view text, std::size_t at, std::size_t count) {
    if (at + count > text.size()) return -1;
    int value = 0;
    for (std::size_t i = at; i < at + count; ++i) {
        if (text[i] < '0' || text[i] > '9') return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

char at_or_nul(std::string_view text, std::size_t at) { return at < text.size() ? text[at] : '\0'; }

struct Clock {
    int hour = 0;
    int minute = 0;
    int second = 0;
};

// The day of "YYYY-MM-DD" at the front, if there is such a day.
std::optional<std::chrono::sys_days> day_of(std::string_view text) {
    const int year = number_at(text, 0, 4);
    const int month = number_at(text, 5, 2);
    const int day = number_at(text, 8, 2);
    if (year < 0 || month < 0 || day < 0 || text[4] != '-' || text[7] != '-') return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                           std::chrono::day{static_cast<unsigned>(day)}};
    if (!date.ok()) return std::nullopt;
    return std::chrono::sys_days(date);
}

// "Z" or "+hh:mm" as the whole of `text`: minutes east of UTC.
std::optional<int> offset_of(std::string_view text) {
    if (text == "Z" || text == "z") return 0;
    if (text.size() != 6 || text[3] != ':' || (text[0] != '+' && text[0] != '-')) return std::nullopt;
    const int hours = number_at(text, 1, 2);
    const int minutes = number_at(text, 4, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
    return (text[0] == '-' ? -1 : 1) * (hours * 60 + minutes);
}

}  // namespace

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n\f\v";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string ascii_folded(std::string_view text) { return ascii_lower(text); }

std::optional<std::string> normal_email(std::string_view text) {
    const std::string_view address = trimmed(text);
    const auto at = address.rfind('@');
    if (at == std::string_view::npos || at == 0 || at + 1 == address.size()) return std::nullopt;
    return std::string(address.substr(0, at + 1)) + ascii_lower(address.substr(at + 1));
}

std::optional<std::string> normal_timestamp(std::string_view text) {
    if (text.size() < 20) return std::nullopt;
    const auto day = day_of(text);
    const Clock clock{number_at(text, 11, 2), number_at(text, 14, 2), number_at(text, 17, 2)};
    const bool separators = (text[10] == 'T' || text[10] == 't' || text[10] == ' ') && text[13] == ':' &&
                            text[16] == ':';
    if (!day || !separators || clock.hour < 0 || clock.hour > 23 || clock.minute < 0 || clock.minute > 59)
        return std::nullopt;
    if (clock.second < 0 || clock.second > 60) return std::nullopt;

    std::size_t at = 19;
    std::string_view fraction;
    if (at_or_nul(text, at) == '.') {
        const std::size_t begin = ++at;
        while (at_or_nul(text, at) >= '0' && at_or_nul(text, at) <= '9') ++at;
        if (at == begin) return std::nullopt;
        fraction = text.substr(begin, at - begin);
        fraction = fraction.substr(0, fraction.find_last_not_of('0') + 1);
    }
    const auto offset = offset_of(text.substr(at));
    if (!offset) return std::nullopt;

    // A leap second keeps its 60: it is another instant than the next minute's first.
    const auto minutes = std::chrono::minutes(clock.hour * 60 + clock.minute - *offset);
    const auto instant = std::chrono::sys_time<std::chrono::minutes>(*day) + minutes;
    const auto utc_day = std::chrono::floor<std::chrono::days>(instant);
    const std::chrono::year_month_day date(utc_day);
    const auto of_day = (instant - utc_day).count();
    if (static_cast<int>(date.year()) < 0 || static_cast<int>(date.year()) > 9999) return std::nullopt;
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}{}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), of_day / 60, of_day % 60,
                       clock.second, fraction.empty() ? "" : ".", fraction);
}

std::optional<std::string> normal_money(std::string_view amount, std::string_view currency, bool integer_is_minor) {
    const auto decimals = currency_decimals(currency);
    if (!decimals || amount.find_first_of("eE") != std::string_view::npos) return std::nullopt;
    const auto number = Decimal::from_json_number(amount);
    if (!number) return std::nullopt;
    const bool minor = integer_is_minor && amount.find('.') == std::string_view::npos;
    return (minor ? number->shifted(-*decimals) : *number).canonical();
}

}  // namespace opid
