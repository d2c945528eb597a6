#include "core/identity/differences.hpp"

#include <catch2/catch.hpp>

using namespace opid;

namespace {

Intent request(std::string body, const char* type = "application/json") {
    Intent intent;
    intent.method = "POST";
    intent.scheme_authority = "https://api.example.com";
    intent.path = "/v1/charges";
    intent.media_type = type;
    intent.body = std::move(body);
    return intent;
}

using List = std::vector<std::string>;

List between(std::string a, std::string b, const IntentRules& rules = {}, const char* type = "application/json") {
    return differences(request(std::move(a), type), request(std::move(b), type), rules);
}

const char* const form = "application/x-www-form-urlencoded";

}  // namespace

TEST_CASE("equal intents have no differences") {
    CHECK(between(R"({"a":1,"b":2})", R"({"b":2.0,"a":1})").empty());
    CHECK(between("a=1&b=2", "b=2&a=1", {}, form).empty());
}

TEST_CASE("JSON differences are pointers to the deepest place") {
    CHECK(between(R"({"amount":4500,"payment_method":"pm_one"})", R"({"amount":4500,"payment_method":"pm_two"})") ==
          List{"/payment_method"});
    CHECK(between(R"({"a":{"b":[1,{"c":2}],"x":1}})", R"({"a":{"b":[1,{"c":3,"d":4},5],"y":1}})") ==
          List{"/a/b/1/c", "/a/b/1/d", "/a/b/2", "/a/x", "/a/y"});
    CHECK(between(R"({"a/b":{"~":1}})", R"({"a/b":{"~":2}})") == List{"/a~1b/~0"});
    CHECK(between(R"({"a":[1]})", R"({"a":{"0":1}})") == List{"/a"});
    CHECK(between("1", "2") == List{"body"});
    CHECK(between(R"({"a":1,"a":2})", R"({"a":2})") == List{"body"});
    CHECK(between(R"({"n":9007199254740995})", R"({"n":9007199254740996})") == List{"/n"});
    CHECK(between("{\"\xf0\x9f\x98\x80\":1,\"\xee\x80\x80\":1}", "{\"\xee\x80\x80\":1}") == List{"/\xf0\x9f\x98\x80"});
}

TEST_CASE("rules apply to the differences too") {
    IntentRules rules;
    rules.set = {*JsonPattern::parse("/tags")};
    rules.ignore = {*JsonPattern::parse("/noise")};
    CHECK(between(R"({"tags":[1,2],"noise":1})", R"({"tags":[2,3],"noise":2})", rules) == List{"/tags"});
    CHECK(between(R"({"tags":[1,2],"noise":1})", R"({"tags":[2,1]})", rules).empty());
}

TEST_CASE("the head of the request comes first") {
    IntentRules rules;
    rules.headers = {"Stripe-Account"};
    Intent a = request("{}");
    Intent b = request("{\"x\":1}");
    b.method = "PUT";
    b.query = "?y";
    b.media_type = "application/vnd.x+json";
    b.headers = {{"stripe-account", "acct_2"}};
    CHECK(differences(a, b, rules) == List{"method", "target", "header:stripe-account", "header:content-type", "/x"});
    b = request("{}");
    b.scheme_authority = "https://other.example.com";
    CHECK(differences(a, b, rules) == List{"target"});
    b = request("{}");
    b.content_coding = "zstd";
    CHECK(differences(a, b, rules) == List{"header:content-encoding", "body"});
    b = request("x", "text/plain");
    CHECK(differences(a, b, rules) == List{"header:content-type", "body"});
}

TEST_CASE("form fields and parts are pointers by name") {
    CHECK(between("a=1&metadata[x]=1&tags[]=1", "a=2&metadata[y]=1&tags[]=2", {}, form) ==
          List{"/a", "/metadata/x", "/tags", "/metadata/y"});
    CHECK(between("a", "a=", {}, form) == List{"/a"});
    CHECK(between("a=%zz", "a=%zy", {}, form) == List{"body"});
    const auto part = [](const char* name, const char* text) {
        return std::string("--b\r\nContent-Disposition: form-data; name=") + name + "\r\n\r\n" + text + "\r\n";
    };
    const char* type = "multipart/form-data; boundary=b";
    CHECK(between(part("n", "1") + part("m", "1") + "--b--", part("n", "2") + part("m", "1") + "--b--", {}, type) ==
          List{"/n"});
    const std::string one = part("n", "1") + part("m", "1") + "--b--";
    const std::string turned = part("m", "1") + part("n", "1") + "--b--";
    CHECK(between(one, turned, {}, type).empty());
    CHECK(between(one, turned, {}, "multipart/mixed; boundary=b") == List{"body"});
}

TEST_CASE("the list is bounded and shows no values") {
    std::string a = "{\"x\":0";
    std::string b = "{\"x\":0";
    for (int i = 0; i < 80; ++i) {
        a += ",\"k" + std::to_string(i) + "\":\"secret\"";
        b += ",\"k" + std::to_string(i) + "\":\"other\"";
    }
    const List list = between(a + "}", b + "}");
    CHECK(list.size() == differences_max + 1);
    CHECK(list.back() == "...");
    for (const auto& entry : list) CHECK(entry.find("secret") == std::string::npos);
    const std::string name(1000, 'n');
    CHECK(between("{\"" + name + "\":1}", "{}") == List{"/" + std::string(128, 'n') + "..."});
}

TEST_CASE("every mismatch is explained") {
    const char* bodies[] = {"{}", "{\"a\":null}", "[]", "[[]]", "\"a\"", "a=1", "", "{\"a\":1}", "{\"a\":\"1\"}"};
    for (const char* x : bodies) {
        for (const char* y : bodies) {
            const bool equal = canonical_digest(request(x), {}) == canonical_digest(request(y), {});
            CHECK(between(x, y).empty() == equal);
        }
    }
}
