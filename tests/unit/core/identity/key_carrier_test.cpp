#include "core/identity/key_carrier.hpp"

#include <catch2/catch.hpp>

using namespace opid;

namespace {

std::string captured(std::string_view glob, std::string_view path, std::string_view name) {
    const auto range = find_path_capture(glob, path, name);
    return range ? std::string(path.substr(range->first, range->second)) : "none";
}

}  // namespace

TEST_CASE("carriers are parsed and written") {
    for (const char* text : {"none", "header:idempotency-key", "body:/idempotency_key", "form:request_id",
                             "query:requestId", "path:{id}"}) {
        const auto carrier = parse_key_carrier(text);
        REQUIRE(carrier);
        CHECK(to_text(*carrier) == text);
    }
    CHECK(parse_key_carrier("header:Idempotency-Key")->name == "idempotency-key");
    CHECK(to_text(*parse_key_carrier("graphql:key")) == "body:/variables/key");
    CHECK(to_text(*parse_key_carrier("graphql:input.clientMutationId")) == "body:/variables/input/clientMutationId");
    for (const char* bad : {"", "header", "header:", "header:a b", "body:", "body:key", "path:id", "path:{}",
                            "cookie:x", "form:", "None"}) {
        INFO(bad);
        CHECK_FALSE(parse_key_carrier(bad).has_value());
    }
}

TEST_CASE("a capture is found in a path") {
    CHECK(captured("/v1/things/{id}", "/v1/things/abc", "id") == "abc");
    CHECK(captured("/v1/{a}/x/{b}", "/v1/1/x/2", "b") == "2");
    CHECK(captured("/*/{id}", "/anything/7", "id") == "7");
    CHECK(captured("/**/{id}", "/a/b/c/9", "id") == "9");
    CHECK(captured("/**/put/{id}", "/a/put/b/put/9", "id") == "9");
    CHECK(captured("/a/{id}/**", "/a/5", "id") == "5");
    CHECK(captured("/v1/things/{id}", "/v1/things/abc/more", "id") == "none");
    CHECK(captured("/v1/things/{id}", "/v1/things", "id") == "none");
    CHECK(captured("/v1/things/{id}", "/v1/things/abc", "other") == "none");
    CHECK(captured("/v1/things/{id}", "/V1/things/abc", "id") == "none");
    CHECK(captured("", "", "id") == "none");
}
