#include "core/identity/decimal.hpp"

#include <catch2/catch.hpp>

using namespace opid;

namespace {

std::string canonical(std::string_view text) {
    const auto number = Decimal::from_json_number(text);
    if (!number) return "error";
    std::string appended;
    append_canonical_number(appended, text);
    return appended == number->canonical() ? appended : "two forms: " + appended + " " + number->canonical();
}

}  // namespace

TEST_CASE("equal values have one text") {
    const std::pair<const char*, const char*> cases[] = {
        {"0", "0"},
        {"-0", "0"},
        {"0.0", "0"},
        {"-0.000", "0"},
        {"0e99999999999999999999", "0"},
        {"-0e-5", "0"},
        {"1", "1"},
        {"1.0", "1"},
        {"1.000", "1"},
        {"10e-1", "1"},
        {"0.1e1", "1"},
        {"100e-2", "1"},
        {"-1", "-1"},
        {"100", "100"},
        {"1e2", "100"},
        {"1E+2", "100"},
        {"1.00e2", "100"},
        {"0.01e004", "100"},
        {"10.50", "10.5"},
        {"10.5", "10.5"},
        {"1050e-2", "10.5"},
        {"-10.50", "-10.5"},
        {"0.5", "0.5"},
        {"0.50", "0.5"},
        {"9007199254740995", "9007199254740995"},
        {"9007199254740996", "9007199254740996"},
        {"123456789012345678901", "123456789012345678901"},
        {"100000000000000000000", "100000000000000000000"},
        {"1000000000000000000000", "1e+21"},
        {"1e21", "1e+21"},
        {"1e20", "100000000000000000000"},
        {"1234567890123456789012", "1.234567890123456789012e+21"},
        {"1234567890123456789012.5", "1.2345678901234567890125e+21"},
        {"0.000001", "0.000001"},
        {"1e-6", "0.000001"},
        {"0.0000001", "1e-7"},
        {"0.00000012", "1.2e-7"},
        {"1.5e300", "1.5e+300"},
        {"15e299", "1.5e+300"},
        {"5e-324", "5e-324"},
        {"1e999999999999", "1e+999999999999"},
        {"10e999999999999", "1e+1000000000000"},
        {"1e-999999999999", "1e-999999999999"},
        {"1e99999999999999999999", "1e+99999999999999999999"},
        {"10e99999999999999999999", "1e+100000000000000000000"},
        {"0.1e100000000000000000000", "1e+99999999999999999999"},
        {"10e-100000000000000000000", "1e-99999999999999999999"},
        {"0.01e-99999999999999999999", "1e-100000000000000000001"},
        {"1e99999999999999999", "1e+99999999999999999"},
        {"10e99999999999999999", "1e+100000000000000000"},
        {"1e100000000000000000", "1e+100000000000000000"},
    };
    for (const auto& [text, expected] : cases) {
        INFO(text);
        CHECK(canonical(text) == expected);
        CHECK(canonical(expected) == expected);
    }
    CHECK(Decimal::from_json_number("1e2") == Decimal::from_json_number("100.0"));
    CHECK_FALSE(Decimal::from_json_number("9007199254740995") == Decimal::from_json_number("9007199254740996"));
    CHECK_FALSE(Decimal::from_json_number("0.1") == Decimal::from_json_number("0.1000000000000000055511151231257827"));
}

TEST_CASE("only JSON numbers are numbers") {
    for (const char* bad :
         {"", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "1e1.5", " 1", "1 ", "0x1", "1_0", "NaN", "--1"}) {
        INFO(bad);
        CHECK_FALSE(Decimal::from_json_number(bad));
    }
}

TEST_CASE("integers and shifts") {
    CHECK(Decimal::from_json_number("1050")->shifted(-2).canonical() == "10.5");
    CHECK(Decimal::from_json_number("10.5")->shifted(2).canonical() == "1050");
    CHECK(Decimal::from_json_number("0")->shifted(-2).canonical() == "0");
    CHECK(Decimal::from_json_number("-5")->shifted(-3).canonical() == "-0.005");
    CHECK(Decimal::from_json_number("10.0")->is_integer());
    CHECK(Decimal::from_json_number("1.5e1")->is_integer());
    CHECK(Decimal::from_json_number("0")->is_integer());
    CHECK_FALSE(Decimal::from_json_number("1.5")->is_integer());
    CHECK(Decimal::from_json_number("1.5e99999999999999999999")->is_integer());
    CHECK_FALSE(Decimal::from_json_number("1e-99999999999999999999")->is_integer());
}

TEST_CASE("long numbers stay linear") {
    const std::string digits(1 << 20, '7');
    CHECK(canonical(digits + ".0").substr(0, 3) == "7.7");
    CHECK(canonical("1e" + digits) == "1e+" + digits);
    CHECK(canonical("0." + std::string(1 << 20, '0') + "1") == "1e-1048577");
}
