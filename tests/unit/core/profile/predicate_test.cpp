#include <catch2/catch.hpp>

#include "core/profile/predicate.hpp"

using namespace opid;

TEST_CASE("equality is typed on JSON values") {
    struct Row {
        const char* operand;
        const char* value;
        bool holds;
    };
    const Row rows[] = {
        {"\"a\"", "\"a\"", true},
        {"\"a\"", "\"\\u0061\"", true},
        {"\"a\"", "\"b\"", false},
        {"402", "402", true},
        {"402", "402.0", true},
        {"402", "4.02e2", true},
        {"402", "\"402\"", false},
        {"\"402\"", "402", false},
        {"false", "false", true},
        {"false", "\"false\"", false},
        {"false", "null", false},
        {"null", "null", true},
        {"9007199254740993", "9007199254740992", false},
        {"1", "{\"a\":1}", false},
        {"1", "[1]", false},
        {"\"a\"", "", false},
        {"\"a\"", "\"a", false},
    };
    for (const Row& row : rows) {
        INFO(row.operand << " on " << row.value);
        CHECK(Predicate::equals(row.operand).holds_json(row.value) == row.holds);
    }
    CHECK_FALSE(Predicate::equals("null").holds_json(std::nullopt));
}

TEST_CASE("presence, lists and expressions on JSON values") {
    CHECK(Predicate::present().holds_json("null"));
    CHECK(Predicate::present().holds_json("{}"));
    CHECK_FALSE(Predicate::present().holds_json(std::nullopt));
    CHECK(Predicate::absent().holds_json(std::nullopt));
    CHECK_FALSE(Predicate::absent().holds_json("null"));
    const auto one_of = Predicate::one_of({"\"a\"", "1"});
    CHECK(one_of.holds_json("\"a\""));
    CHECK(one_of.holds_json("1.0"));
    CHECK_FALSE(one_of.holds_json("\"1\""));
    std::string error;
    const auto expression = Predicate::matching("^rate_?limit", error);
    REQUIRE(expression);
    CHECK(expression->holds_json("\"ratelimited\""));
    CHECK_FALSE(expression->holds_json("\"a ratelimit\""));
    CHECK_FALSE(expression->holds_json("null"));
    CHECK_FALSE(expression->holds_json("[\"ratelimit\"]"));
    CHECK(Predicate::matching("^4\\d\\d$", error)->holds_json("404"));
    CHECK_FALSE(Predicate::matching("(", error));
    CHECK(error == "missing ): (");
    CHECK_FALSE(Predicate::matching(std::string(2000, 'a'), error));
    CHECK_FALSE(Predicate::matching("((a{1000}){1000})", error));
}

TEST_CASE("texts are compared with the string form") {
    CHECK(Predicate::equals("true").holds_text("true"));
    CHECK(Predicate::equals("\"true\"").holds_text("true"));
    CHECK(Predicate::equals("0").holds_text("0"));
    CHECK_FALSE(Predicate::equals("0").holds_text("00"));
    CHECK_FALSE(Predicate::equals("\"x\"").holds_text(std::nullopt));
    CHECK(Predicate::equals("\"b\"").holds_any_text({"a", "b"}));
    CHECK_FALSE(Predicate::equals("\"b\"").holds_any_text({}));
    CHECK(Predicate::absent().holds_any_text({}));
    CHECK_FALSE(Predicate::absent().holds_any_text({"a"}));
    CHECK(Predicate::equals("\"a\"").text() == "\"a\"");
    CHECK(Predicate::one_of({"\"a\"", "1"}).text() == "one_of: [\"a\", 1]");
}
