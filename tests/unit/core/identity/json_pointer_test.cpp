#include "core/identity/json_pointer.hpp"

#include <catch2/catch.hpp>

using namespace opid;

namespace {

const char* const sample = R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"m~n":8,"~1":9,"0":{"1":7}})";

std::string at(std::string_view pointer) {
    const auto document = read_json(sample);
    const auto parsed = JsonPointer::parse(pointer);
    if (!parsed) return "error";
    const auto value = parsed->resolve(document->root());
    return value ? std::string(value->raw()) : "none";
}

std::vector<std::string> path(std::initializer_list<const char*> segments) {
    return {segments.begin(), segments.end()};
}

}  // namespace

TEST_CASE("pointers resolve by RFC 6901") {
    CHECK(at("") == sample);
    CHECK(at("/foo") == R"(["bar","baz"])");
    CHECK(at("/foo/0") == R"("bar")");
    CHECK(at("/") == "0");
    CHECK(at("/a~1b") == "1");
    CHECK(at("/c%d") == "2");
    CHECK(at("/m~0n") == "8");
    CHECK(at("/~01") == "9");
    CHECK(at("/0/1") == "7");
    for (const char* none : {"/foo/2", "/foo/-", "/foo/00", "/foo/01", "/foo/x", "/bar", "/foo/0/x", "/foo/",
                             "/foo/99999999999999999999"}) {
        INFO(none);
        CHECK(at(none) == "none");
    }
    for (const char* error : {"foo", "/a~", "/a~2", "#/foo"}) CHECK(at(error) == "error");
    std::string deep;
    for (int i = 0; i < 65; ++i) deep += "/a";
    CHECK(at(deep) == "error");
    CHECK(JsonPointer::parse("/a~1b/m~0n/")->text() == "/a~1b/m~0n/");
}

TEST_CASE("patterns match one segment for a star") {
    const auto pattern = *JsonPattern::parse("/items/*/id");
    CHECK(pattern.matches(path({"items", "0", "id"})));
    CHECK(pattern.matches(path({"items", "x", "id"})));
    CHECK_FALSE(pattern.matches(path({"items", "id"})));
    CHECK_FALSE(pattern.matches(path({"items", "0", "id", "z"})));
    CHECK(pattern.covers(path({"items", "0", "id", "z"})));
    CHECK(JsonPattern::parse("")->matches(path({})));
    CHECK(JsonPattern::parse("/items/*/currency")->bound_to(path({"items", "3", "amount"})).text() ==
          "/items/3/currency");
    CHECK(JsonPattern::parse("/currency")->bound_to(path({"items", "3", "amount"})).text() == "/currency");
    CHECK_FALSE(JsonPattern::exactly(*JsonPointer::parse("/*")).matches(path({"a"})));
    CHECK(JsonPattern::exactly(*JsonPointer::parse("/*")).matches(path({"*"})));
    CHECK_FALSE(JsonPattern::parse("items").has_value());
    CHECK(pattern.text() == "/items/*/id");
}
