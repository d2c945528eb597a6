#include "core/identity/credential_veil.hpp"

#include <catch2/catch.hpp>

using namespace opid;

TEST_CASE("names that may be a credential's") {
    for (const char* name : {"key",
                             "api_key",
                             "apikey2",
                             "access_key",
                             "subscription-key",
                             "appKey",
                             "private%5Fkey",
                             "access_token",
                             "client_secret",
                             "Password",
                             "passphrase",
                             "pass",
                             "pwd",
                             "bearer",
                             "sig",
                             "X-Amz-Signature",
                             "code",
                             "code_verifier",
                             "otp",
                             "pin",
                             "sid",
                             "session_id",
                             "jwt"}) {
        INFO(name);
        CHECK(has_credentials(std::string("/a?x=1&") + name + "=v"));
    }
    for (const char* name : {"keyword", "amount", "page", "encoder", "passenger", "author", "pinned"}) {
        INFO(name);
        CHECK_FALSE(has_credentials(std::string("/a?x=1&") + name + "=v"));
    }
    CHECK_FALSE(has_credentials("/key=1"));
    CHECK_FALSE(has_credentials("/a?key=&token"));
}

TEST_CASE("a veiled value shows nothing and is compared like any other") {
    const std::string veiled = veiled_target("/a?x=1&key=hidden&y=2", "salt");
    CHECK(veiled == "/a?x=1&key=***" + veiled.substr(14, 32) + "&y=2");
    CHECK(veiled.find("hidden") == std::string::npos);
    CHECK(veiled == veiled_target("/a?x=1&key=hidden&y=2", "salt"));
    CHECK_FALSE(veiled == veiled_target("/a?x=1&key=Hidden&y=2", "salt"));
    CHECK_FALSE(veiled == veiled_target("/a?x=1&key=hidden&y=2", "other salt"));
    CHECK(veiled_target("/a?x=1", "salt") == "/a?x=1");
}

TEST_CASE("the same but for what may be a credential") {
    CHECK(same_but_credentials("/a?x=1&key=one", "/a?x=1&key=two"));
    CHECK(same_but_credentials(veiled_target("/a?key=one", "salt"), "/a?key=two"));
    CHECK_FALSE(same_but_credentials("/a?x=1&key=one", "/a?x=2&key=one"));
    CHECK_FALSE(same_but_credentials("/a?key=one", "/a?key=one&x=1"));
}
