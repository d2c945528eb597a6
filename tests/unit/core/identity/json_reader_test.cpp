#include "core/identity/json_reader.hpp"

#include <catch2/catch.hpp>

#include "vectors.hpp"

using namespace opid;

namespace {

std::string problem(std::string_view text) {
    const auto document = read_json(text);
    return document ? "" : document.error().what();
}

std::string decoded(std::string_view text) {
    const auto document = read_json(text);
    return document ? document->root().string() : "error";
}

std::optional<std::size_t> duplicate(std::string_view text) { return read_json(text)->duplicate_at(); }

}  // namespace

TEST_CASE("values, members and their places in the text") {
    const std::string text = R"( {"a" : [1, {"b\u0063":"x\ny"}], "" :null,"t":true,"f":false} )";
    const auto document = read_json(text);
    REQUIRE(document);
    const JsonValue root = document->root();
    CHECK(root.is(JsonKind::object));
    CHECK(root.begin() == 1);
    CHECK(root.end() == text.size() - 1);
    CHECK(root.size() == 4);
    const auto list = root.member("a");
    REQUIRE(list);
    CHECK(list->raw() == R"([1, {"b\u0063":"x\ny"}])");
    CHECK(list->name() == "a");
    CHECK(list->name_begin() == 2);
    CHECK(list->element(0)->raw() == "1");
    CHECK_FALSE(list->element(2));
    CHECK_FALSE(list->member("a"));
    const auto inner = list->element(1)->member("bc");
    REQUIRE(inner);
    CHECK(inner->name() == "bc");
    CHECK(inner->string() == "x\ny");
    CHECK(inner->is_member());
    CHECK_FALSE(list->element(1)->is_member());
    CHECK(root.member("")->is(JsonKind::null));
    CHECK(root.member("t")->boolean());
    CHECK_FALSE(root.member("f")->boolean());
    CHECK_FALSE(root.member("g"));
    CHECK_FALSE(root.element(0));
    CHECK_FALSE(read_json("[]")->root().first());
    CHECK_FALSE(read_json("{}")->root().first());
}

TEST_CASE("strings decode exactly") {
    CHECK(decoded(R"("plain")") == "plain");
    CHECK(decoded(R"("\"\\\/\b\f\n\r\t")") == "\"\\/\b\f\n\r\t");
    CHECK(decoded(R"("\u00e9\u20AC\ud83d\ude00!")") == "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80!");
    CHECK(decoded(R"("\u0000")") == std::string(1, '\0'));
    CHECK(decoded("\"\xf0\x9f\x98\x80\"") == "\xf0\x9f\x98\x80");
    for (const char* bad :
         {R"("\ud800")", R"("\udc00")", R"("\ud800\u0041")", R"("\ud800x")", R"("\u12g4")", R"("\u12")", R"("\x")"}) {
        CHECK(decoded(bad) == "error");
    }
    for (const char* bad :
         {"\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xe2\x82\"", "\"\x80\"", "\"\xff\""}) {
        CHECK(decoded(bad) == "error");
    }
}

TEST_CASE("errors name the byte") {
    CHECK(problem("") == "not JSON at byte 0: the text ends where a value is expected");
    CHECK(problem("[1,]") == "not JSON at byte 3: expected a value");
    CHECK(problem("{\"a\":1,}") == "not JSON at byte 7: expected a member name");
    CHECK(problem("[1] x") == "not JSON at byte 4: text after the end of the value");
    CHECK(problem("\xEF\xBB\xBF{}") == "not JSON at byte 0: expected a value");
    CHECK(problem(std::string_view("[1\0]", 4)) == "not JSON at byte 2: expected ',' or ']'");
    CHECK(problem(std::string_view("[\0]", 3)) == "not JSON at byte 1: expected a value");
    CHECK(problem("[1") == "not JSON at byte 2: expected ',' or ']'");
    for (const char* bad : {"01", "-", "1.", ".5", "1e", "1e+", "+1", "0x1", "NaN", "tru", "nulL", "'a'", "{a:1}",
                            "[1}", "{\"a\" 1}", "{\"a\"}"}) {
        INFO(bad);
        CHECK_FALSE(problem(bad).empty());
    }
}

TEST_CASE("depth and size are bounded") {
    const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
    CHECK(problem(nested(512)).empty());
    CHECK(problem(nested(513)) == "not JSON at byte 512: nested too deeply");
    CHECK_FALSE(problem(std::string(1 << 20, '[')).empty());
    CHECK(read_json("[1,2]", JsonLimits{512, 3}).has_value());
    CHECK_FALSE(read_json("[1,2,3]", JsonLimits{512, 3}).has_value());
}

TEST_CASE("a duplicated member is reported where it stands") {
    CHECK_FALSE(duplicate(R"({"a":1,"b":2,"c":{"a":1}})"));
    CHECK(duplicate(R"({"a":1,"a":2})") == 7u);
    CHECK(duplicate(R"({"a":1,"\u0061":2})") == 7u);
    CHECK(duplicate(R"([{"x":{"b":1,"b":1}}])") == 13u);
    CHECK_FALSE(duplicate("{\"\xc3\xa9\":1,\"e\xcc\x81\":2}"));  // no Unicode normalisation
    std::string many = "{";
    for (int i = 0; i < 5000; ++i) many += "\"k" + std::to_string(i) + "\":0,";
    CHECK_FALSE(duplicate(many + "\"z\":0}"));
    CHECK(duplicate(many + "\"k4999\":0}") == many.size());
}

TEST_CASE("a string is written with the escapes of RFC 8785") {
    std::string out;
    append_json_string(out, std::string_view("\0\x1f\"\\/\b\f\n\r\t\x7f\xe2\x82\xac", 14));
    CHECK(out == "\"\\u0000\\u001f\\\"\\\\/\\b\\f\\n\\r\\t\x7f\xe2\x82\xac\"");
}

TEST_CASE("the parsing vectors: y_ is read, n_ is refused, i_ ends well either way") {
    for (const auto& path : test::vector_files("json")) {
        const std::string name = path.filename().string();
        const std::string text = test::read_file(path);
        INFO(name);
        const bool accepted = read_json(text).has_value();
        if (name.rfind("y_", 0) == 0) CHECK(accepted);
        if (name.rfind("n_", 0) == 0) CHECK_FALSE(accepted);
    }
}
