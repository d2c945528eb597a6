#include "core/identity/normalisers.hpp"

#include <catch2/catch.hpp>

#include "core/identity/currency.hpp"

using namespace opid;

TEST_CASE("a timestamp is an instant in UTC with its exact fraction") {
    const std::pair<const char*, const char*> cases[] = {
        {"2026-03-11T10:00:00Z", "2026-03-11T10:00:00Z"},
        {"2026-03-11t10:00:00z", "2026-03-11T10:00:00Z"},
        {"2026-03-11 10:00:00Z", "2026-03-11T10:00:00Z"},
        {"2026-03-11T11:30:00+01:30", "2026-03-11T10:00:00Z"},
        {"2026-03-11T10:00:00-00:00", "2026-03-11T10:00:00Z"},
        {"2026-01-01T00:30:00+01:00", "2025-12-31T23:30:00Z"},
        {"2024-02-28T23:30:00-01:00", "2024-02-29T00:30:00Z"},
        {"2026-03-11T10:00:00.500Z", "2026-03-11T10:00:00.5Z"},
        {"2026-03-11T10:00:00.000Z", "2026-03-11T10:00:00Z"},
        {"2026-03-11T10:00:00.123456789012345678901Z", "2026-03-11T10:00:00.123456789012345678901Z"},
        {"1990-12-31T15:59:60-08:00", "1990-12-31T23:59:60Z"},
    };
    for (const auto& [text, expected] : cases) {
        INFO(text);
        CHECK(normal_timestamp(text) == std::optional<std::string>(expected));
        CHECK(normal_timestamp(expected) == std::optional<std::string>(expected));
    }
    for (const char* bad :
         {"", "2026-03-11", "2026-03-11T10:00:00", "2026-02-30T10:00:00Z", "2026-03-11T24:00:00Z",
          "2026-03-11T10:60:00Z", "2026-03-11T10:00:61Z", "2026-03-11T10:00:00.Z", "2026-03-11T10:00:00+1:00",
          "2026-03-11T10:00:00Z ", "2026/03/11T10:00:00Z", "0000-01-01T00:00:00+01:00", "2026-03-11T10:00:00+0100"}) {
        INFO(bad);
        CHECK_FALSE(normal_timestamp(bad));
    }
}

TEST_CASE("an email keeps its local part") {
    CHECK(normal_email("  Ann.Lee@Example.COM ") == std::optional<std::string>("Ann.Lee@example.com"));
    CHECK(normal_email("\"a@b\"@X.org") == std::optional<std::string>("\"a@b\"@x.org"));
    for (const char* bad : {"", "ann", "@x", "ann@"}) CHECK_FALSE(normal_email(bad));
}

TEST_CASE("money compares in major units") {
    const auto is = [](std::string_view amount, std::string_view currency, bool minor) {
        return normal_money(amount, currency, minor).value_or("none");
    };
    CHECK(is("10.50", "USD", false) == "10.5");
    CHECK(is("1050", "USD", true) == "10.5");
    CHECK(is("1050", "usd", true) == "10.5");
    CHECK(is("10.50", "usd", true) == "10.5");  // a point is major in either case
    CHECK(is("10", "USD", false) == "10");
    CHECK(is("1050", "JPY", true) == "1050");
    CHECK(is("1050", "KWD", true) == "1.05");
    CHECK(is("1050", "CLF", true) == "0.105");
    CHECK(is("-5", "EUR", true) == "-0.05");
    CHECK(is("10.50", "", false) == "none");
    CHECK(is("10.50", "US", false) == "none");
    CHECK(is("10.50", "US1", false) == "none");
    CHECK(is("10,50", "USD", false) == "none");
    CHECK(is("1e3", "USD", false) == "none");
    CHECK(is("", "USD", false) == "none");
    CHECK(is(" 1", "USD", false) == "none");
    CHECK(currency_decimals("xpf") == std::optional<int>(0));
    CHECK(currency_decimals("BIF") == std::optional<int>(0));
    CHECK(currency_decimals("TND") == std::optional<int>(3));
    CHECK(currency_decimals("ZZZ") == std::optional<int>(2));
}

TEST_CASE("trimming knows ASCII white space only") {
    CHECK(trimmed(" \t\r\n\f\va b\n") == "a b");
    CHECK(trimmed("\xc2\xa0x") == "\xc2\xa0x");
    CHECK(trimmed(" ").empty());
    CHECK(ascii_folded("\xc3\x84"
                       "BC") ==
          "\xc3\x84"
          "bc");
}
