#include "core/identity/operation_id.hpp"

#include <catch2/catch.hpp>

#include "core/identity/json_reader.hpp"
#include "vectors.hpp"

using namespace opid;

namespace {

std::string parsed(std::vector<std::string_view> lines) {
    const auto id = parse_operation_id("Operation-Id", lines);
    if (!id) return "error: " + id.error().what();
    return *id ? (*id)->value() : "none";
}

bool refused(std::vector<std::string_view> lines) {
    const auto id = parse_operation_id("Operation-Id", lines);
    return !id && id.error().kind() == ErrorKind::invalid;
}

}  // namespace

TEST_CASE("an operation ID is bare or a string, and both name the same") {
    CHECK(parsed({}) == "none");
    CHECK(parsed({"abc"}) == "abc");
    CHECK(parsed({" \tabc \t"}) == "abc");
    CHECK(parsed({"\"abc\""}) == "abc");
    CHECK(parsed({R"("a\"b\\c")"}) == R"(a"b\c)");
    CHECK(parsed({R"(a"b\c)"}) == R"(a"b\c)");
    CHECK(parsed({"agent-run-2026-03-11T09:15:00Z/billing-flow/step-0007"}) ==
          "agent-run-2026-03-11T09:15:00Z/billing-flow/step-0007");
    std::string all;
    for (char c = '!'; c <= '~'; ++c) {
        if (c != '"') all.push_back(c);
    }
    CHECK(parsed({all}) == all);
}

TEST_CASE("parameters of a string are ignored") {
    CHECK(parsed({R"("abc";v=1)"}) == "abc");
    CHECK(parsed({R"("abc"; v ;w="x;y,\"z";q=?1;*r=tok/en;d=@17;b=:aGk=:)"}) != "abc");  // a blank behind a key
    CHECK(parsed({R"("abc"; v;w="x;y,\"z";q=?1;*r=tok/en;d=@17;b=:aGk=:)"}) == "abc");
    CHECK(refused({R"("abc";)"}));
    CHECK(refused({R"("abc";V=1)"}));
    CHECK(refused({R"("abc";v=)"}));
    CHECK(refused({R"("abc";v="x)"}));
    CHECK(refused({R"("abc"x)"}));
}

TEST_CASE("equal values collapse, different ones contradict") {
    CHECK(parsed({"abc", "abc"}) == "abc");
    CHECK(parsed({"abc", "\"abc\""}) == "abc");
    CHECK(parsed({"abc, abc"}) == "abc");
    CHECK(parsed({"\"abc\",\"abc\""}) == "abc");
    CHECK(parsed({"\"abc\" , abc"}) == "abc");
    CHECK(refused({"abc", "abd"}));
    CHECK(refused({"abc, abd"}));
    CHECK(refused({"\"abc\",\"abd\""}));
    CHECK(refused({"abc", ""}));
    CHECK(refused({"abc, , abc"}));
    CHECK(refused({", abc"}));
    CHECK(parsed({"a,b"}) == "a,b");
}

TEST_CASE("what is no ID is refused with advice") {
    CHECK(refused({""}));
    CHECK(refused({"  "}));
    CHECK(refused({"\"\""}));
    CHECK(refused({"a b"}));
    CHECK(refused({"\"a b\""}));
    CHECK(refused({"a\tb"}));
    CHECK(refused({std::string_view("a\0b", 3)}));
    CHECK(refused({"a\x7f"}));
    CHECK(refused({"caf\xc3\xa9"}));
    CHECK(refused({"\"abc"}));
    CHECK(refused({R"("a\b")"}));
    CHECK(refused({R"("a\)"}));
    CHECK(parsed({std::string(255, 'x')}) == std::string(255, 'x'));
    CHECK(refused({std::string(256, 'x')}));
    CHECK(refused({"\"" + std::string(256, 'x') + "\""}));
    CHECK(parsed({""}) ==
          "error: Operation-Id is empty; send 1 to 255 visible ASCII characters, bare or as a quoted string");
}

TEST_CASE("IDs from text and step references follow the same rule") {
    CHECK(operation_id_from_text("\"q\"")->value() == "\"q\"");
    CHECK_FALSE(operation_id_from_text("").has_value());
    CHECK_FALSE(operation_id_from_text("a b").has_value());
    const std::string_view lines[] = {"run-81/step-4"};
    CHECK((*parse_step_reference("Operation-Step", lines))->value() == "run-81/step-4");
}

TEST_CASE("strings of the structured field vectors") {
    for (const auto& path : test::vector_files("structured-fields")) {
        const std::string text = test::read_file(path);
        const auto document = read_json(text);
        REQUIRE(document);
        for (auto entry = document->root().first(); entry; entry = entry->next()) {
            const auto raw = entry->member("raw");
            if (!raw || raw->size() != 1) continue;  // several lines join into one string there; each is a value here
            const std::string line = raw->first()->string();
            if (line.empty() || line.front() != '"') continue;
            INFO(path << ": " << entry->member("name")->string());
            if (const auto must_fail = entry->member("must_fail"); must_fail && must_fail->boolean()) {
                CHECK(refused({line}));
                continue;
            }
            const std::string expected = entry->member("expected")->element(0)->string();
            const bool is_id = !expected.empty() && expected.find(' ') == std::string::npos && expected.size() < 256;
            CHECK(refused({line}) == !is_id);
            if (is_id) CHECK(parsed({line}) == expected);
        }
    }
}
