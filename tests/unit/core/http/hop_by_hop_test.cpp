// Forwarded heads, literally.
#include <catch2/catch.hpp>

#include "core/http/hop_by_hop.hpp"
#include "http_samples.hpp"

using namespace opid::http;

namespace {

std::string forwarded(const std::string& bytes, const RequestForwarding& options = {}) {
    const auto parsed = request(bytes);
    REQUIRE(parsed->parse.outcome == ParseOutcome::complete);
    std::string out;
    write_request_head(parsed->head, options, out);
    return out;
}

std::string relayed(const std::string& bytes, ResponseForwarding options = {}, std::string_view method = "GET") {
    const auto parsed = response(bytes, method);
    REQUIRE(parsed->parse.outcome == ParseOutcome::complete);
    options.framing = client_framing(parsed->head, options.client_minor);
    std::string out;
    write_response_head(parsed->head, options, out);
    return out;
}

RequestForwarding bare() {
    RequestForwarding options;
    options.via = {};
    return options;
}

}  // namespace

TEST_CASE("a plain request keeps order, case and bytes") {
    CHECK(forwarded(
              "post /a%2F?b HTTP/1.1\r\nhOST: a\r\nX-One: 1\r\nCookie: \xc3\xa9\r\nx-one: 2\r\ncontent-LENGTH: 007\r\n"
              "Accept: */*\r\n\r\n") ==
          "post /a%2F?b HTTP/1.1\r\nhOST: a\r\nX-One: 1\r\nCookie: \xc3\xa9\r\nx-one: 2\r\ncontent-LENGTH: 7\r\n"
          "Accept: */*\r\nVia: 1.1 opid\r\n\r\n");
}

TEST_CASE("framing lines of a request") {
    const std::string host = "POST / HTTP/1.1\r\nHost: a\r\n";
    CHECK(forwarded(host + "Content-Length: 5, 5\r\nContent-Length: 5\r\n\r\n", bare()) ==
          host + "Content-Length: 5\r\n\r\n");
    CHECK(forwarded(host + "transfer-encoding: Chunked\r\nX: y\r\n\r\n", bare()) ==
          host + "transfer-encoding: chunked\r\nX: y\r\n\r\n");
    CHECK(forwarded(host + "Content-Length: 0\r\n\r\n", bare()) == host + "Content-Length: 0\r\n\r\n");
    CHECK(forwarded(host + "\r\n", bare()) == host + "\r\n");
    const Framing other = Framing::sized(12);
    auto options = bare();
    options.framing = &other;
    CHECK(forwarded(host + "Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n", options) ==
          host + "Content-Length: 12\r\n\r\n");
}

TEST_CASE("what ends at this hop") {
    const std::string start = "GET / HTTP/1.1\r\nHost: a\r\n";
    struct Row {
        const char* id;
        std::string fields;
        std::string kept;
    };
    const Row rows[] = {
        {"H01", "Connection:\r\nConnection: X-Foo\r\nX-Foo: 1\r\nX-Bar: 2\r\n", "X-Bar: 2\r\n"},
        {"H02", "Connection: close ,\tX-FOO\r\nx-foo: 1\r\nX-Bar: 2\r\n", "X-Bar: 2\r\n"},
        {"H03",
         "Proxy-Connection: x\r\nKeep-Alive: 5\r\nTE: trailers, gzip\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n"
         "Proxy-Authorization: x\r\nProxy-Authenticate: x\r\nX-Bar: 2\r\n",
         "X-Bar: 2\r\n"},
        {"H04",
         "Connection: Authorization, Cookie, Content-Type, Idempotency-Key, X-Forwarded-For, Host, Via\r\n"
         "Authorization: 1\r\nCookie: 2\r\nContent-Type: 3\r\nIdempotency-Key: 4\r\nX-Forwarded-For: 5\r\n",
         "Authorization: 1\r\nCookie: 2\r\nContent-Type: 3\r\nIdempotency-Key: 4\r\nX-Forwarded-For: 5\r\n"},
        {"ops",
         "Operation-Id: 1\r\noperation-step: 2\r\nOPERATION-UNKNOWN: 3\r\nOperations: 4\r\nX-Operation-Id: 5\r\n",
         "Operations: 4\r\nX-Operation-Id: 5\r\n"},
        {"U03", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\n", ""},
        {"S08", "Expect: 100-continue\r\n", "Expect: 100-continue\r\n"},
        {"", "Trailer: X\r\n", ""},
    };
    for (const Row& row : rows) {
        INFO(row.id);
        CHECK(forwarded(start + row.fields + "\r\n", bare()) == start + row.kept + "\r\n");
    }
    const std::vector<std::string_view> profile{"Stripe-Account"};
    auto options = bare();
    options.protect = &profile;
    CHECK(forwarded(start + "Connection: stripe-account\r\nStripe-Account: 1\r\n\r\n", options) ==
          start + "Stripe-Account: 1\r\n\r\n");
}

TEST_CASE("targets and hosts") {
    CHECK(forwarded("GET http://a:81/p?q HTTP/1.1\r\nX: 1\r\nHost: other\r\n\r\n", bare()) ==
          "GET /p?q HTTP/1.1\r\nX: 1\r\nHost: a:81\r\n\r\n");
    CHECK(forwarded("GET http://a?q HTTP/1.0\r\n\r\n", bare()) == "GET /?q HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(forwarded("GET http://a HTTP/1.0\r\n\r\n") == "GET / HTTP/1.1\r\nHost: a\r\nVia: 1.0 opid\r\n\r\n");
    CHECK(forwarded("OPTIONS http://a HTTP/1.1\r\nHost: a\r\n\r\n", bare()) == "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
    auto options = bare();
    options.host = "api.example.com";
    options.target = "/v1/x";
    CHECK(forwarded("GET /stripe/v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n", options) ==
          "GET /v1/x HTTP/1.1\r\nHost: api.example.com\r\n\r\n");
}

TEST_CASE("what opid adds to a request") {
    FieldList extra;
    extra.add("Authorization", "Bearer k");
    extra.add("Content-Length", "9");
    extra.add("X-Bad", "a\r\nInjected: b");
    const std::vector<std::string_view> drop{"x-gone", "host"};
    RequestForwarding options;
    options.extra = &extra;
    options.drop = &drop;
    options.forwarded_for = "192.0.2.1";
    options.close = true;
    CHECK(forwarded("GET / HTTP/1.1\r\nHost: a\r\nConnection: Authorization\r\nauthorization: old\r\nX-Gone: 1\r\n"
                    "X-Forwarded-For: forged\r\nVia: 1.1 before\r\n\r\n",
                    options) ==
          "GET / HTTP/1.1\r\nHost: a\r\nVia: 1.1 before\r\nX-Forwarded-For: 192.0.2.1\r\nVia: 1.1 opid\r\n"
          "Authorization: Bearer k\r\nConnection: close\r\n\r\n");
}

TEST_CASE("upgrades and trailers go on only when accepted") {
    const std::string bytes =
        "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, X-Custom, TE\r\nUpgrade: websocket\r\n"
        "TE: Trailers\r\nX-Custom: 1\r\nSec-WebSocket-Key: k\r\nProxy-Authorization: p\r\n\r\n";
    auto options = bare();
    CHECK(forwarded(bytes, options) == "GET / HTTP/1.1\r\nHost: a\r\nSec-WebSocket-Key: k\r\n\r\n");
    options.upgrade = "websocket";
    options.trailers = true;
    CHECK(forwarded(bytes, options) ==
          "GET / HTTP/1.1\r\nHost: a\r\nSec-WebSocket-Key: k\r\nUpgrade: websocket\r\n"
          "TE: trailers\r\nConnection: Upgrade, TE\r\n\r\n");
    CHECK(forwarded("GET / HTTP/1.1\r\nHost: a\r\n\r\n", options) == "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
}

TEST_CASE("responses as they go to the client") {
    ResponseForwarding quiet;
    quiet.via = {};
    ResponseForwarding old = quiet;
    old.client_minor = 0;
    old.close = true;
    const std::string ok = "HTTP/1.1 200 OK\r\n";
    CHECK(relayed(
              "HTTP/1.0 200 Fine\r\nSet-Cookie: a\r\nContent-Length: 05\r\nSet-Cookie: b\r\nConnection: close, X-H\r\n"
              "Keep-Alive: 5\r\nX-H: 1\r\nOpid-Problem: forged\r\nProxy-Authenticate: x\r\n\r\n") ==
          "HTTP/1.1 200 Fine\r\nSet-Cookie: a\r\nContent-Length: 5\r\nSet-Cookie: b\r\nVia: 1.0 opid\r\n\r\n");
    CHECK(relayed("HTTP/1.1 200\r\n\r\n", quiet) == "HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n");
    CHECK(relayed("HTTP/1.1 200\r\n\r\n", old) == "HTTP/1.1 200 \r\nConnection: close\r\n\r\n");
    CHECK(relayed(ok + "Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n", old) == ok + "Connection: close\r\n\r\n");
    CHECK(relayed(ok + "Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n", quiet) ==
          ok + "Transfer-Encoding: chunked\r\nTrailer: X\r\n\r\n");
    CHECK(relayed(ok + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", quiet) ==
          ok + "Transfer-Encoding: chunked\r\n\r\n");
    CHECK(relayed(ok + "Transfer-Encoding: gzip\r\n\r\n", quiet) == ok + "Transfer-Encoding: gzip\r\n\r\n");
    CHECK(relayed(ok + "content-length: 007\r\n\r\n", quiet, "HEAD") == ok + "content-length: 7\r\n\r\n");
    CHECK(relayed(ok + "Transfer-Encoding: chunked\r\n\r\n", quiet, "HEAD") == ok + "\r\n");
    CHECK(relayed("HTTP/1.1 304 N\r\nContent-Length: 9\r\n\r\n", quiet) ==
          "HTTP/1.1 304 N\r\nContent-Length: 9\r\n\r\n");
    CHECK(relayed("HTTP/1.1 204 N\r\nContent-Length: 0\r\n\r\n", quiet) == "HTTP/1.1 204 N\r\n\r\n");
    CHECK(relayed("HTTP/1.1 103 E\r\nConnection: X\r\nX: 1\r\nLink: </a>\r\n\r\n", quiet) ==
          "HTTP/1.1 103 E\r\nLink: </a>\r\n\r\n");
    quiet.upgrade = "websocket";
    CHECK(relayed("HTTP/1.1 101 S\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: k\r\n\r\n", quiet) ==
          "HTTP/1.1 101 S\r\nSec-WebSocket-Accept: k\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
}

TEST_CASE("loops are seen by our own name in Via") {
    const auto via = [](const std::string& lines) {
        return passed_through(request("GET / HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n")->head.fields, "opid");
    };
    CHECK(via("Via: 1.1 opid\r\n"));
    CHECK(via("Via: 1.0 fred, 1.1 OPID (x)\r\n"));
    CHECK(via("Via: 1.1 a\r\nVia: HTTP/1.1 opid\r\n"));
    CHECK_FALSE(via("Via: 1.1 opid2\r\nX: opid\r\n"));
    CHECK_FALSE(via("Via: opid\r\n"));
    CHECK_FALSE(via(""));
}
