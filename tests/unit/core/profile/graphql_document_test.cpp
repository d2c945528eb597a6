#include <catch2/catch.hpp>

#include "core/profile/graphql_document.hpp"

using namespace opid;

namespace {

std::string read(std::string_view document, std::string_view name = {}) {
    const auto operation = read_graphql_document(document, name);
    if (!operation) return "none";
    std::string text = operation->type;
    for (const std::string& field : operation->fields) text += " " + field;
    if (!operation->complete) text += " ...";
    return text;
}

}  // namespace

TEST_CASE("which operation of a GraphQL document runs") {
    CHECK(read("{ viewer { login } }") == "query viewer");
    CHECK(read("query { a b }") == "query a b");
    CHECK(read("query Q($x: Int = 1, $y: [In!]! = {a: \"}\"}) @d(if: true) { a(x: $x) @skip(if: true) { z } b }") ==
          "query a b");
    CHECK(read("mutation M { alias: createIssue(input: {title: \"} mutation\"}) { id } }") == "mutation createIssue");
    CHECK(read("subscription { s }") == "subscription s");
    CHECK(read("# mutation { a }\nquery { b }") == "query b");
    CHECK(read("query { a(x: \"\"\"mutation { \\\"\"\" } \"\"\") }") == "query a");
    CHECK(read("\xEF\xBB\xBFquery { a }") == "query a");
    CHECK(read("query A { a } mutation B { b }", "B") == "mutation b");
    CHECK(read("query A { a } mutation B { b }", "A") == "query a");
    CHECK(read("query A { a } mutation B { b }") == "none");
    CHECK(read("query A { a }", "B") == "none");
    CHECK(read("query A { a } query A { b }", "A") == "none");
    CHECK(read("fragment F on Q { a }") == "none");
}

TEST_CASE("fragments at the first level are followed") {
    CHECK(read("mutation { ...F } fragment F on M { deleteRepo createIssue }") == "mutation deleteRepo createIssue");
    CHECK(read("mutation { ... on M { a } ... @include(if: true) { b } c }") == "mutation a b c");
    CHECK(read("mutation { ...F } fragment F on M { a ...F }") == "mutation a");
    CHECK(read("mutation { ...Gone a }") == "mutation a ...");
    CHECK(read("{ a ...F } fragment F on Q { a b }") == "query a b");
}

TEST_CASE("what is no GraphQL is not read") {
    for (const char* text : {"", "   ", "{", "{ a", "query", "hello { a }", "{ a } }", "{ \"a }", "{ a \x01 }",
                             "query { a(x: \"open) }", "extend type A { b: C }"}) {
        INFO(text);
        CHECK(read(text) == "none");
    }
}
