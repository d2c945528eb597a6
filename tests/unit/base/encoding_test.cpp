#include <catch2/catch.hpp>

#include "base/encoding.hpp"
#include "base/sha256.hpp"

using namespace opid;

TEST_CASE("sha256 of the empty string and of parts") {
    CHECK(to_hex(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    Sha256 parts;
    parts.update("a");
    parts.update("bc");
    CHECK(parts.finish() == sha256("abc"));
}

TEST_CASE("encodings follow RFC 4648 section 10") {
    CHECK(base64("foob") == "Zm9vYg==");
    CHECK(base32hex("foobar") == "cpnmuoj1e8");
    CHECK(from_base64("Zm9vYg==") == std::optional<std::string>("foob"));
    CHECK_FALSE(from_base64("Zm9vYg="));
    CHECK_FALSE(from_base64("Z===m9vY"));
    CHECK(from_hex("00fF") == std::optional<std::string>(std::string("\0\xff", 2)));
    CHECK_FALSE(from_hex("0g"));
}

TEST_CASE("ASCII helpers ignore case and trim blanks only") {
    CHECK(equal_ignoring_case("Content-Length", "content-LENGTH"));
    CHECK(trim_blank(" \tx y\t ") == "x y");
    CHECK(trim_blank("  ").empty());
}
