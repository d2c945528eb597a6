#pragma once
// A number by its exact decimal value. Nothing here goes through a double, and an exponent is text: 1e999999999999
// costs as much as it has characters.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace opid {

class Decimal {
public:
    // `text` by the number grammar of RFC 8259; anything else: nullopt.
    static std::optional<Decimal> from_json_number(std::string_view text);

    // One text for one value, and itself a JSON number: as ECMAScript writes numbers (plain from 1e-6 up to 1e21,
    // else one digit before the point and a signed exponent), but with every digit. -0 is 0.
    std::string canonical() const;

    bool is_zero() const { return digits_.empty(); }
    bool is_integer() const;
    // The value times ten to the power of `places`.
    Decimal shifted(std::int32_t places) const;

    friend bool operator==(const Decimal&, const Decimal&) = default;

private:
    // The value is (negative) d.ddd times ten to the exponent, without zeros at either end of the digits.
    bool negative_ = false;
    std::string digits_;
    std::string exponent_ = "0";  // an integer of any size: optional '-', no leading zeros
};

// Appends Decimal::canonical() of a number that the JSON reader accepted; allocates only where the text is not
// canonical already.
void append_canonical_number(std::string& out, std::string_view json_number);

}  // namespace opid
