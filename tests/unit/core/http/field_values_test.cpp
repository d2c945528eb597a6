// Field lists and the values with a grammar of their own.
#include <catch2/catch.hpp>

#include "core/http/date.hpp"
#include "core/http/fields.hpp"
#include "core/http/media_type.hpp"
#include "core/http/retry_after.hpp"

using namespace opid;
using namespace opid::http;
using Texts = std::vector<std::string_view>;

TEST_CASE("lists over several lines") {
    FieldList fields;
    fields.add("A", " ,one,, two ,\"three, \\\" four\", ");
    fields.add("B", "x");
    fields.add("a", "five,\"open, six");
    CHECK(fields.elements("A") == Texts{"one", "two", "\"three, \\\" four\"", "five", "\"open, six"});
    CHECK(fields.count("a") == 2);
    CHECK(fields.get("b") == std::optional<std::string_view>("x"));
    CHECK_FALSE(fields.get("c"));
    CHECK(fields.has_element("A", "FIVE"));
    CHECK_FALSE(fields.has_element("A", "four"));
    CHECK(fields.joined("b") == "x");
    FieldList escaped;
    escaped.add("A", "\"x\\");
    CHECK(escaped.elements("A") == Texts{"\"x\\"});
}

TEST_CASE("owned fields") {
    OwnedFields fields;
    fields.add("A", "1");
    fields.add("B", "2");
    fields.add("a", "3");
    fields.set(fields[2].name, fields[2].value);
    REQUIRE(fields.size() == 2);
    CHECK(fields[0] == OwnedField{"a", "3"});
    CHECK(own(view(fields)) == fields);
    CHECK(fields.remove("A") == 1);
    fields.set("C", "4");
    CHECK(fields.joined("c") == "4");
}

TEST_CASE("tokens and values") {
    CHECK(is_token("a-b!"));
    CHECK_FALSE(is_token(""));
    CHECK_FALSE(is_token("a b"));
    CHECK(is_field_value(""));
    CHECK(is_field_value("a\tb \xff"));
    CHECK_FALSE(is_field_value("a\r\nb"));
    CHECK_FALSE(is_field_value(" a"));
}

TEST_CASE("media types") {
    const auto media = parse_media_type(" Multipart/Form-Data ; Boundary=\"a;\\\"b\" ;charset=UTF-8;");
    REQUIRE(media);
    CHECK(media->essence() == "multipart/form-data");
    CHECK(media->is("multipart/form-data"));
    CHECK(media->parameter("boundary") == std::optional<std::string_view>("a;\"b"));
    CHECK(media->parameter("charset") == std::optional<std::string_view>("UTF-8"));
    CHECK(parse_media_type("application/problem+json")->has_suffix("json"));
    CHECK(parse_media_type("application/json")->has_suffix("json"));
    CHECK_FALSE(parse_media_type("application/jsonx")->has_suffix("json"));
    for (const char* text :
         {"", "text", "text/", "/plain", "text/plain x", "text/plain;a", "text/plain;a=", "text/plain;a =b",
          "text/plain;a=\"b", "text/plain;a=b;A=c", "text/plain, text/html", "te xt/plain"}) {
        INFO(text);
        CHECK_FALSE(parse_media_type(text));
    }
}

TEST_CASE("dates") {
    const Instant at = from_unix_ms(784'111'777'999);
    CHECK(imf_fixdate(at) == "Sun, 06 Nov 1994 08:49:37 GMT");
    CHECK(imf_fixdate(from_unix_ms(0)) == "Thu, 01 Jan 1970 00:00:00 GMT");
    CHECK(imf_fixdate(from_unix_ms(-1)) == "Wed, 31 Dec 1969 23:59:59 GMT");
    CHECK(imf_fixdate(from_unix_ms(253'402'300'800'000)) == "Fri, 31 Dec 9999 23:59:59 GMT");
    const Instant second = from_unix_ms(784'111'777'000);
    CHECK(parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT", at) == std::optional<Instant>(second));
    CHECK(parse_http_date("Sunday, 06-Nov-94 08:49:37 GMT", at) == std::optional<Instant>(second));
    CHECK(parse_http_date("Sun Nov  6 08:49:37 1994", at) == std::optional<Instant>(second));
    for (const char* text :
         {"", "Sun, 06 Nov 1994 08:49:37", "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
          "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994 x",
          "Someday, 06-Nov-94 08:49:37 GMT", "unN, 06 Nov 1994 08:49:37 GMT"}) {
        INFO(text);
        CHECK_FALSE(parse_http_date(text, at));
    }
}

TEST_CASE("Retry-After") {
    const Instant now = from_unix_ms(784'111'777'000);
    const Millis hour{3'600'000};
    CHECK(parse_retry_after("120", now, hour) == std::optional<Millis>(120'000));
    CHECK(parse_retry_after(" 0 ", now, hour) == std::optional<Millis>(0));
    CHECK(parse_retry_after("99999999999999999999999999", now, hour) == std::optional<Millis>(hour));
    CHECK(parse_retry_after("Sun, 06 Nov 1994 08:50:37 GMT", now, hour) == std::optional<Millis>(60'000));
    CHECK(parse_retry_after("Sun, 06 Nov 1994 08:00:00 GMT", now, hour) == std::optional<Millis>(0));
    CHECK(parse_retry_after("Mon, 07 Nov 1994 08:50:37 GMT", now, hour) == std::optional<Millis>(hour));
    for (const char* text : {"", "-1", "1.5", "1s", "soon"}) CHECK_FALSE(parse_retry_after(text, now, hour));
}
