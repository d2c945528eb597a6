#include "core/identity/decimal.hpp"

#include "base/invariant.hpp"

namespace opid {
namespace {

constexpr std::size_t small_digits_max = 17;     // such an exponent fits 64 bits with room to add
constexpr std::int64_t plain_exponent_min = -6;  // ECMAScript: 0.000001 is plain, 1e-7 is not
constexpr std::int64_t plain_exponent_max = 20;  // 100000000000000000000 is plain, 1e+21 is not

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t digits_end(std::string_view text, std::size_t at) {
    while (at < text.size() && is_digit(text[at])) ++at;
    return at;
}

// `integer` is canonical: optional '-', no leading zeros.
std::optional<std::int64_t> small_integer(std::string_view integer) {
    const bool negative = !integer.empty() && integer.front() == '-';
    const std::string_view digits = integer.substr(negative ? 1 : 0);
    if (digits.size() > small_digits_max) return std::nullopt;
    std::int64_t value = 0;
    for (const char c : digits) value = value * 10 + (c - '0');
    return negative ? -value : value;
}

// Adds to an integer whose magnitude (18 digits or more) is far greater than that of `addend`.
std::string add_to_huge(std::string_view integer, std::int64_t addend) {
    const bool negative = integer.front() == '-';
    std::string digits(integer.substr(negative ? 1 : 0));
    std::int64_t carry = negative ? -addend : addend;
    for (std::size_t i = digits.size(); i-- > 0 && carry != 0;) {
        std::int64_t sum = (digits[i] - '0') + carry;
        carry = sum / 10;
        sum %= 10;
        if (sum < 0) {
            sum += 10;
            --carry;
        }
        digits[i] = static_cast<char>('0' + sum);
    }
    if (carry > 0) digits.insert(0, std::to_string(carry));
    digits.erase(0, digits.find_first_not_of('0'));
    return negative ? "-" + digits : digits;
}

std::string add(std::string_view integer, std::int64_t addend) {
    if (const auto small = small_integer(integer)) return std::to_string(*small + addend);
    return add_to_huge(integer, addend);
}

// "+007" -> "7", "-000" -> "0"
std::string canonical_integer(std::string_view text) {
    const bool negative = !text.empty() && text.front() == '-';
    if (negative || (!text.empty() && text.front() == '+')) text.remove_prefix(1);
    const auto first = text.find_first_not_of('0');
    if (first == std::string_view::npos) return "0";
    return (negative ? "-" : "") + std::string(text.substr(first));
}

// The text is its own canonical form: an integer of up to 21 digits, or one that is not 0 with a fraction that does
// not end in 0.
bool is_plain_canonical(std::string_view text) {
    const std::size_t begin = text.front() == '-' ? 1 : 0;
    const std::size_t point = digits_end(text, begin);
    if (point - begin > 21) return false;
    if (point == text.size()) return text != "-0";
    if (text[point] != '.' || text[begin] == '0') return false;
    return digits_end(text, point + 1) == text.size() && text.back() != '0';
}

}  // namespace

std::optional<Decimal> Decimal::from_json_number(std::string_view text) {
    Decimal number;
    std::size_t at = 0;
    if (!text.empty() && text.front() == '-') {
        number.negative_ = true;
        at = 1;
    }
    const std::size_t integer_end = digits_end(text, at);
    if (integer_end == at || (text[at] == '0' && integer_end > at + 1)) return std::nullopt;
    number.digits_.assign(text, at, integer_end - at);
    auto exponent = static_cast<std::int64_t>(integer_end - at) - 1;
    at = integer_end;
    if (at < text.size() && text[at] == '.') {
        const std::size_t fraction_end = digits_end(text, at + 1);
        if (fraction_end == at + 1) return std::nullopt;
        number.digits_.append(text, at + 1, fraction_end - at - 1);
        at = fraction_end;
    }
    std::string written_exponent = "0";
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        const std::size_t begin = ++at;
        if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
        const std::size_t exponent_end = digits_end(text, at);
        if (exponent_end == at) return std::nullopt;
        written_exponent = canonical_integer(text.substr(begin, exponent_end - begin));
        at = exponent_end;
    }
    if (at != text.size()) return std::nullopt;

    const auto first = number.digits_.find_first_not_of('0');
    if (first == std::string::npos) return Decimal();
    number.digits_.erase(number.digits_.find_last_not_of('0') + 1);
    number.digits_.erase(0, first);
    exponent -= static_cast<std::int64_t>(first);
    number.exponent_ = add(written_exponent, exponent);
    return number;
}

std::string Decimal::canonical() const {
    if (is_zero()) return "0";
    std::string text = negative_ ? "-" : "";
    const auto small = small_integer(exponent_);
    if (!small || *small < plain_exponent_min || *small > plain_exponent_max) {
        text.push_back(digits_.front());
        if (digits_.size() > 1) text.append(1, '.').append(digits_, 1);
        text.push_back('e');
        if (exponent_.front() != '-') text.push_back('+');
        return text + exponent_;
    }
    if (*small < 0) {
        text += "0.";
        text.append(static_cast<std::size_t>(-*small - 1), '0');
        return text + digits_;
    }
    const auto before_point = static_cast<std::size_t>(*small) + 1;
    if (digits_.size() <= before_point) {
        text += digits_;
        text.append(before_point - digits_.size(), '0');
        return text;
    }
    text.append(digits_, 0, before_point).push_back('.');
    text.append(digits_, before_point);
    return text;
}

bool Decimal::is_integer() const {
    if (is_zero()) return true;
    const auto small = small_integer(exponent_);
    if (!small) return exponent_.front() != '-';
    return *small + 1 >= static_cast<std::int64_t>(digits_.size());
}

Decimal Decimal::shifted(std::int32_t places) const {
    Decimal moved = *this;
    if (!is_zero()) moved.exponent_ = add(exponent_, places);
    return moved;
}

void append_canonical_number(std::string& out, std::string_view json_number) {
    OPID_INVARIANT(!json_number.empty());
    if (is_plain_canonical(json_number)) {
        out += json_number;
        return;
    }
    const auto number = Decimal::from_json_number(json_number);
    OPID_INVARIANT(number.has_value());
    out += number->canonical();
}

}  // namespace opid
