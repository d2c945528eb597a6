#include <catch2/catch.hpp>

#include "adapters/settings/load_settings.hpp"
#include "adapters/settings/nearest_word.hpp"

using namespace opid;

TEST_CASE("durations") {
    CHECK(parse_duration("1500ms") == Millis{1500});
    CHECK(parse_duration("0s") == Millis{0});
    CHECK(parse_duration("30s") == Millis{30000});
    CHECK(parse_duration("5m") == Millis{300000});
    CHECK(parse_duration("2h") == Millis{7200000});
    CHECK(parse_duration("30d") == Millis{2592000000});
    for (const char* text : {"", "30", "s", "1.5s", "-1s", "+1s", " 1s", "1 s", "1S", "1y", "99999999999999999999s",
                             "40000d", "9223372036854775807d"}) {
        INFO(text);
        CHECK_FALSE(parse_duration(text));
    }
    CHECK(format_duration(Millis{0}) == "0s");
    CHECK(format_duration(Millis{1500}) == "1500ms");
    CHECK(format_duration(Millis{90000}) == "90s");
    CHECK(format_duration(Millis{120000}) == "2m");
    CHECK(format_duration(Millis{86400000}) == "1d");
}

TEST_CASE("sizes") {
    CHECK(parse_size("0") == 0);
    CHECK(parse_size("512B") == 512);
    CHECK(parse_size("60KiB") == 61440);
    CHECK(parse_size("16MiB") == 16777216);
    CHECK(parse_size("2GiB") == 2147483648);
    for (const char* text : {"", "B", "1KB", "1kib", "1.5MiB", "-1", "1 MiB", "99999999999GiB"}) {
        INFO(text);
        CHECK_FALSE(parse_size(text));
    }
}

TEST_CASE("the nearest known word") {
    const std::vector<std::string_view> known{"window", "carrier", "encoding", "source", "stores", "for"};
    CHECK(nearest_word("windwo", known) == "window");
    CHECK(nearest_word("carier", known) == "carrier");
    CHECK(nearest_word("Encoding", known) == "encoding");
    CHECK(nearest_word("store", known) == "stores");
    CHECK(nearest_word("fo", known) == "for");
    CHECK(nearest_word("retention", known).empty());
    CHECK(nearest_word("at-least", {"at_least"}) == "at_least");
    CHECK(nearest_word(std::string(1000, 'x'), known).empty());
    CHECK(nearest_word("x", {}).empty());
}
