#include "core/identity/intent.hpp"

#include <zlib.h>
#include <catch2/catch.hpp>

#include "base/encoding.hpp"

using namespace opid;

namespace {

Intent request(std::string body = R"({"name":"Atlas"})") {
    Intent intent;
    intent.method = "POST";
    intent.scheme_authority = "https://api.example.com";
    intent.path = "/v1/boards";
    intent.media_type = "application/json";
    intent.body = std::move(body);
    return intent;
}

template <class Change>
Intent changed(Change change) {
    Intent intent = request();
    change(intent);
    return intent;
}

bool same(const Intent& a, const Intent& b, const IntentRules& rules = {}, IntentLimits limits = {}) {
    return canonical_digest(a, rules, limits) == canonical_digest(b, rules, limits);
}

std::string gzip(std::string_view text) {
    z_stream stream{};
    REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string out(text.size() + 256, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

}  // namespace

TEST_CASE("the canonical intent is readable and unambiguous") {
    IntentRules rules;
    rules.headers = {"Stripe-Account"};
    Intent intent = request();
    intent.query = "?template=7";
    intent.headers = {{"stripe-account", "acct_1"}};
    CHECK(
        canonical_intent(intent, rules) ==
        "opid-intent-1\nmethod 4:POST\nauthority 23:https://api.example.com\npath 10:/v1/boards\nquery 11:?template=7\n"
        "header 14:stripe-account 6:acct_1\nmedia 16:application/json\ncoding 0:\njson 16:{\"name\":\"Atlas\"}\n");
    CHECK(to_hex(canonical_digest(intent, rules)) == to_hex(sha256(canonical_intent(intent, rules))));
    CHECK(to_hex(raw_digest(intent)) == to_hex(sha256(intent.body)));
}

TEST_CASE("method, host, path and query are raw parts of the request") {
    const Intent base = request();
    CHECK(same(base, request()));
    CHECK_FALSE(same(base, changed([](Intent& i) { i.path = "/v1/invites"; })));
    CHECK_FALSE(same(base, changed([](Intent& i) { i.method = "PATCH"; })));
    CHECK_FALSE(same(base, changed([](Intent& i) { i.method = "post"; })));
    CHECK_FALSE(same(base, changed([](Intent& i) { i.query = "?template=7"; })));
    CHECK_FALSE(same(base, changed([](Intent& i) { i.query = "?"; })));
    CHECK_FALSE(same(base, changed([](Intent& i) { i.path = "/v1/%62oards"; })));
    CHECK_FALSE(same(base, changed([](Intent& i) { i.scheme_authority = "https://second.example.com"; })));
    CHECK_FALSE(same(base, changed([](Intent& i) { i.scheme_authority = "http://api.example.com"; })));
    CHECK_FALSE(same(base, changed([](Intent& i) { i.scheme_authority = "https://api.example.com:444"; })));
    CHECK(same(base, changed([](Intent& i) { i.scheme_authority = "HTTPS://API.example.com:443"; })));
    CHECK_FALSE(
        same(changed([](Intent& i) { i.path = "/a", i.query = "?b"; }), changed([](Intent& i) { i.path = "/a?b"; })));
}

TEST_CASE("bodies compare by meaning, forms never by accident") {
    CHECK(same(request(R"({"a":1,"b":2})"), request(R"({ "b": 2.0, "a": 1 })")));
    CHECK_FALSE(same(request(R"({"units":9007199254740995})"), request(R"({"units":9007199254740996})")));
    CHECK_FALSE(same(request(R"({"amount":30,"amount":70})"), request(R"({"amount":70})")));
    const auto as = [](const char* type, std::string body) {
        Intent intent = request(std::move(body));
        intent.media_type = type;
        return intent;
    };
    CHECK_FALSE(same(as("text/plain", "{}"), as("application/json", "{}")));
    CHECK(same(as("application/json", "{}"), as("application/json; charset=UTF-8", "{ }")));
    CHECK_FALSE(same(as("application/json", "{}"), as("application/json; charset=latin1", "{}")));
    CHECK_FALSE(same(as("application/json", "{}"), as("application/vnd.x+json", "{}")));
    CHECK_FALSE(same(as("text/plain; charset=a", "x"), as("text/plain; charset=b", "x")));
    CHECK(same(as("Text/Plain", "x"), as("text/plain", "x")));
    CHECK_FALSE(same(as("", "x"), as("text/plain", "x")));
}

TEST_CASE("only named headers count, credentials and key carriers never") {
    IntentRules rules;
    rules.headers = {"Stripe-Account", "Authorization", "X-Key", "Operation-Id"};
    rules.key_carriers = {*parse_key_carrier("header:X-Key")};
    const std::vector<std::pair<std::string, std::string>> fields = {
        {"User-Agent", "x"}, {"STRIPE-ACCOUNT", " acct_1 "}, {"authorization", "s"},
        {"x-key", "k"},      {"Operation-Id", "o"},          {"stripe-account", "acct_2"}};
    const auto selected = select_headers(fields, rules);
    CHECK(selected ==
          std::vector<std::pair<std::string, std::string>>{{"stripe-account", "acct_1"}, {"stripe-account", "acct_2"}});
    Intent a = request();
    Intent b = request();
    a.headers = selected;
    b.headers = {selected[1], selected[0]};
    CHECK_FALSE(same(a, b, rules));
    CHECK(same(a, b));  // the current rules decide, not those under which it was stored
    a.headers = {{"x-key", "1"}, {"authorization", "1"}};
    CHECK(same(a, request(), rules));
}

TEST_CASE("a key does not count wherever its carrier is") {
    IntentRules rules;
    rules.ignore_query = {"api_key"};
    rules.key_carriers = {*parse_key_carrier("query:requestId"), *parse_key_carrier("path:{id}")};
    rules.key_carriers[1].path_glob = "/v1/boards/{id}";
    const auto at = [](const char* path, const char* query) {
        Intent intent = request();
        intent.path = path;
        intent.query = query;
        return intent;
    };
    CHECK(same(at("/x", "?a=1&requestId=2&b=3"), at("/x", "?a=1&b=3"), rules));
    CHECK(same(at("/x", "?request%49d=2"), at("/x", ""), rules));
    CHECK(same(at("/x", "?api_key=s"), at("/x", "?api_key=t"), rules));
    CHECK_FALSE(same(at("/x", "?a=1&b=2"), at("/x", "?b=2&a=1"), rules));
    CHECK_FALSE(same(at("/x", "?a=1&"), at("/x", "?a=1"), rules));
    CHECK(same(at("/v1/boards/k1", ""), at("/v1/boards/k2", ""), rules));
    CHECK_FALSE(same(at("/v1/others/k1", ""), at("/v1/others/k2", ""), rules));
}

TEST_CASE("content codings are looked through, within the bound") {
    Intent packed = request(gzip(R"({ "name": "Atlas" })"));
    packed.content_coding = "gzip";
    CHECK(same(packed, request()));
    CHECK(canonical_body_of(packed, {}).form == BodyForm::json);
    CHECK(canonical_body_of(packed, {}, IntentLimits{5}).form == BodyForm::raw);
    CHECK_FALSE(same(packed, request(), {}, IntentLimits{18}));
    Intent broken = request("not gzip");
    broken.content_coding = "gzip";
    CHECK(canonical_body_of(broken, {}).bytes == "not gzip");
    CHECK_FALSE(same(broken, request("not gzip")));
    CHECK(canonical_body_of(request(), {}, IntentLimits{5}).form == BodyForm::raw);
}
