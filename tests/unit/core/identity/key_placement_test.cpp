#include "core/identity/key_placement.hpp"

#include <catch2/catch.hpp>

#include "core/identity/mark_placement.hpp"

using namespace opid;

namespace {

KeyCarrier carrier(const char* text) { return *parse_key_carrier(text); }

CarrierRequest request(std::string_view body, std::string_view type) {
    CarrierRequest parts;
    parts.body = body;
    parts.media_type = type;
    return parts;
}
CarrierRequest json(std::string_view body) { return request(body, "application/json"); }
CarrierRequest form(std::string_view body) { return request(body, "application/x-www-form-urlencoded"); }

std::string placed(const char* where, const CarrierRequest& parts, const char* key = "K") {
    const auto change = place_key(carrier(where), key, parts);
    return change ? change->body.value_or("no body") : "error: " + change.error().what();
}

std::string read(const char* where, const CarrierRequest& parts, std::vector<std::string_view> lines = {}) {
    const auto key = read_key(carrier(where), parts, lines);
    if (!key) return "error";
    return key->value_or("none");
}

}  // namespace

TEST_CASE("a JSON member is replaced and every other byte stays") {
    CHECK(placed("body:/key", json(R"( {"b" : 1.50,  "key":"old" , "a":"\u0041"} )")) ==
          R"( {"b" : 1.50,  "key":"K" , "a":"\u0041"} )");
    CHECK(placed("body:/key", json(R"({"key":{"x":1}})")) == R"({"key":"K"})");
    CHECK(placed("body:/key", json(R"({"\u006bey":5})")) == R"({"\u006bey":"K"})");
    CHECK(placed("body:/a/1/k", json(R"({"a":[0,{"k":null}]})")) == R"({"a":[0,{"k":"K"}]})");
    CHECK(placed("body:/a/1", json(R"({"a":[0,1]})")) == R"({"a":[0,"K"]})");
    CHECK(placed("body:/key", json(R"({"key":1})"), "a\"b\\\n") == "{\"key\":\"a\\\"b\\\\\\n\"}");
}

TEST_CASE("a JSON member is inserted with the parents that are missing") {
    CHECK(placed("body:/key", json("{}")) == R"({"key":"K"})");
    CHECK(placed("body:/key", json("{ }")) == R"({"key":"K" })");
    CHECK(placed("body:/key", json(R"({"a": [1] })")) == R"({"a": [1],"key":"K" })");
    CHECK(placed("body:/m/n/key", json(R"({"a":1})")) == R"({"a":1,"m":{"n":{"key":"K"}}})");
    CHECK(placed("body:/m/key", json(R"({"m":{"x":{}}})")) == R"({"m":{"x":{},"key":"K"}})");
    CHECK(placed("body:/m/key", json(R"({"m":null})")) == R"({"m":{"key":"K"}})");
    CHECK(placed("body:/a~1\"b", json("{}")) == R"({"a/\"b":"K"})");
    CHECK(placed("graphql:input.key", json(R"({"query":"q","variables":{"input":{}}})")) ==
          R"({"query":"q","variables":{"input":{"key":"K"}}})");
}

TEST_CASE("a body of another shape is an error") {
    for (const char* body :
         {"", "[]", "1", "null", "{", R"({"m":1})", R"({"m":[]})", R"({"m":"x"})", R"({"a":1,"a":2})"}) {
        INFO(body);
        CHECK(placed("body:/m/key", json(body)).rfind("error: ", 0) == 0);
    }
    CHECK(placed("body:/m/key", json(R"({"m":5})")) == "error: body:/m/key: there is no object to put 'key' into");
    CHECK(placed("body:/key", request("x", "text/plain")) ==
          "error: body:/key needs a JSON or form body, not text/plain");
    CHECK(placed("form:key", json("{}")).rfind("error: ", 0) == 0);
    CarrierRequest coded = json("{}");
    coded.content_coding = "gzip";
    CHECK(placed("body:/key", coded) ==
          "error: body:/key can't be reached in a body with content coding; send it uncompressed");
    coded.content_coding = "identity";
    CHECK(placed("body:/key", coded) == R"({"key":"K"})");
    CHECK_FALSE(place_key(carrier("body:/key"), "\xff", json("{}")).has_value());
}

TEST_CASE("a form field is replaced, made single, or added") {
    CHECK(placed("form:key", form("a=x+y&key=old&b=%41")) == "a=x+y&key=K&b=%41");
    CHECK(placed("form:key", form("key=1&a=2&k%65y=3&b=4&key")) == "key=K&a=2&b=4");
    CHECK(placed("form:key", form("key")) == "key=K");
    CHECK(placed("form:key", form("a=1")) == "a=1&key=K");
    CHECK(placed("form:key", form("a=1&")) == "a=1&key=K");
    CHECK(placed("form:key", form("")) == "key=K");
    CHECK(placed("form:key", form("a=%zz&key=1"), "a b&") == "a=%zz&key=a%20b%26");
    CHECK(placed("body:/metadata/operation_id", form("a=1")) == "a=1&metadata%5Boperation_id%5D=K");
    CHECK(placed("body:/metadata/operation_id", form("metadata[operation_id]=x&a=1")) ==
          "metadata[operation_id]=K&a=1");
}

TEST_CASE("header, query and path carriers") {
    CarrierRequest parts;
    parts.path = "/v1/things/old/items";
    parts.query = "?a=1&requestId=9&b=2";
    const auto header = place_key(carrier("header:Idempotency-Key"), "K", parts);
    CHECK(header->header == std::optional(std::pair<std::string, std::string>("idempotency-key", "K")));
    CHECK_FALSE(header->body);
    CHECK_FALSE(place_key(carrier("header:X"), "a\r\nb", parts).has_value());
    CHECK_FALSE(place_key(carrier("header:X"), "", parts).has_value());
    CHECK(place_key(carrier("query:requestId"), "K", parts)->query ==
          std::optional<std::string>("?a=1&requestId=K&b=2"));
    CHECK(place_key(carrier("query:other"), "K", parts)->query ==
          std::optional<std::string>("?a=1&requestId=9&b=2&other=K"));
    parts.query = "";
    CHECK(place_key(carrier("query:other"), "K", parts)->query == std::optional<std::string>("?other=K"));
    parts.query = "?";
    CHECK(place_key(carrier("query:other"), "K", parts)->query == std::optional<std::string>("?other=K"));
    KeyCarrier path = carrier("path:{id}");
    path.path_glob = "/v1/things/{id}/items";
    CHECK(place_key(path, "K/1", parts)->path == std::optional<std::string>("/v1/things/K%2F1/items"));
    CHECK(read_key(path, parts, {})->value_or("none") == "old");
    path.path_glob = "/v2/{id}";
    CHECK_FALSE(place_key(path, "K", parts).has_value());
    const auto none = place_key(carrier("none"), "K", parts);
    CHECK((none.has_value() && !none->header && !none->body && !none->query && !none->path));
}

TEST_CASE("the caller's own key is read from the same places") {
    CHECK(read("body:/a/key", json(R"({"a":{"key":"x\ty"}})")) == "x\ty");
    CHECK(read("body:/key", json(R"({"key":12.0})")) == "12.0");
    CHECK(read("body:/key", json(R"({"key":null})")) == "none");
    CHECK(read("body:/key", json(R"({"key":""})")) == "none");
    CHECK(read("body:/key", json("{}")) == "none");
    CHECK(read("body:/key", json(R"({"key":[]})")) == "error");
    CHECK(read("body:/key", json("{")) == "error");
    CHECK(read("body:/a/key", form("a[key]=x+y")) == "x y");
    CHECK(read("form:key", form("key=1&key=1")) == "1");
    CHECK(read("form:key", form("key=1&key=2")) == "error");
    CHECK(read("form:key", form("other=1")) == "none");
    CHECK(read("form:key", form("key=%zz")) == "error");
    CarrierRequest parts;
    parts.query = "?requestId=7";
    CHECK(read("query:requestId", parts) == "7");
    CHECK(read("header:X", parts, {}) == "none");
    CHECK(read("header:X", parts, {"k", "k"}) == "k");
    CHECK(read("header:X", parts, {"k", "j"}) == "error");
    CHECK(read("none", parts) == "none");
}

TEST_CASE("what was placed is read back") {
    for (const char* body : {"{}", R"({"a":{"b":1},"z":[]})", R"({"a":null})"}) {
        const auto text = placed("body:/a/key", json(body), "k-1");
        CHECK(read("body:/a/key", json(text)) == "k-1");
    }
}

TEST_CASE("a mark goes into the body the same way") {
    const auto at = *JsonPointer::parse("/metadata/operation_id");
    CHECK(*place_mark(at, "op-1", json(R"({"amount":1})")) == R"({"amount":1,"metadata":{"operation_id":"op-1"}})");
    CHECK(*place_mark(at, "op-1", form("amount=1")) == "amount=1&metadata%5Boperation_id%5D=op-1");
    CHECK_FALSE(place_mark(at, "op-1", request("x", "text/plain")).has_value());
}
