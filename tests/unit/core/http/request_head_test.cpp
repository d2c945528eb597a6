// What a request head says once it is accepted, and the bounds it is held to.
#include <catch2/catch.hpp>

#include "http_samples.hpp"

using namespace opid::http;

TEST_CASE("the parts of a request") {
    const auto parsed = request(
        "POST /v1/refunds?x=%2F HTTP/1.1\r\nHost: api.example.com\r\nX-A:  one \r\nx-a: two\r\n"
        "Content-Length: 2\r\n\r\n{}GET");
    const RequestHead& head = parsed->head;
    REQUIRE(parsed->parse.outcome == ParseOutcome::complete);
    CHECK(parsed->parse.consumed == parsed->bytes.size() - 5);
    CHECK(head.method == "POST");
    CHECK(head.target == "/v1/refunds?x=%2F");
    CHECK(head.path == head.target);
    CHECK(head.form == TargetForm::origin);
    CHECK(head.authority == "api.example.com");
    CHECK(head.minor == 1);
    CHECK(head.keep_alive);
    REQUIRE(head.fields.size() == 4);
    CHECK(head.fields[1] == Field{"X-A", "one"});
    CHECK(head.fields.values("x-A") == std::vector<std::string_view>{"one", "two"});
}

TEST_CASE("the forms of a target") {
    const auto absolute = request("GET HTTP://Api.Example.com:8080?q=1 HTTP/1.1\r\nHost: other\r\n\r\n");
    REQUIRE(absolute->parse.outcome == ParseOutcome::complete);
    CHECK(absolute->head.form == TargetForm::absolute);
    CHECK(absolute->head.scheme == "HTTP");
    CHECK(absolute->head.authority == "Api.Example.com:8080");
    CHECK(absolute->head.path == "?q=1");
    const auto bare = request("OPTIONS http://a HTTP/1.1\r\nHost:\r\n\r\n");
    REQUIRE(bare->parse.outcome == ParseOutcome::complete);
    CHECK(bare->head.authority == "a");
    CHECK(bare->head.path.empty());
    const auto tunnel = request("CONNECT a:443 HTTP/1.1\r\nHost: b\r\n\r\n");
    REQUIRE(tunnel->parse.outcome == ParseOutcome::complete);
    CHECK(tunnel->head.is_connect());
    CHECK(tunnel->head.authority == "a:443");
    const auto asterisk = request("OPTIONS * HTTP/1.1\r\nHost: b\r\n\r\n");
    CHECK(asterisk->head.form == TargetForm::asterisk);
    CHECK(asterisk->head.authority == "b");
}

TEST_CASE("persistence") {
    struct Row {
        const char* start;
        const char* fields;
        bool keep_alive;
    };
    const Row rows[] = {
        {"GET / HTTP/1.1", "", true},
        {"GET / HTTP/1.1", "Connection: close\r\n", false},
        {"GET / HTTP/1.1", "Connection:\r\nConnection: x, CLOSE\r\n", false},
        {"GET / HTTP/1.1", "Connection: keep-alive, close\r\n", false},
        {"GET / HTTP/1.0", "", false},
        {"GET / HTTP/1.0", "Connection: Keep-Alive\r\n", true},
        {"GET / HTTP/1.0", "Connection: keep-alive, close\r\n", false},
        {"GET http://a/ HTTP/1.0", "Connection: keep-alive\r\n", false},
        {"GET http://a/ HTTP/1.1", "Proxy-Connection: close\r\n", true},
    };
    for (const Row& row : rows) {
        INFO(row.start << " " << row.fields);
        const auto parsed = request(std::string(row.start) + "\r\nHost: a\r\n" + row.fields + "\r\n");
        REQUIRE(parsed->parse.outcome == ParseOutcome::complete);
        CHECK(parsed->head.keep_alive == row.keep_alive);
    }
}

TEST_CASE("expectations and upgrades") {
    const auto expecting = request("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n");
    CHECK(expecting->head.expect_continue);
    const auto old = request("PUT / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n");
    REQUIRE(old->parse.outcome == ParseOutcome::complete);
    CHECK_FALSE(old->head.expect_continue);
    const std::string fields = "Host: a\r\nUpgrade: h2c, WebSocket\r\nConnection: X, Upgrade\r\n\r\n";
    const auto upgrade = request("GET / HTTP/1.1\r\n" + fields);
    CHECK(upgrade->head.offers_upgrade("websocket"));
    CHECK(upgrade->head.offers_upgrade("h2c"));
    CHECK_FALSE(upgrade->head.offers_upgrade("tls/1.0"));
    CHECK_FALSE(request("GET / HTTP/1.0\r\n" + fields)->head.offers_upgrade("websocket"));
    CHECK_FALSE(request("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n")->head.offers_upgrade("websocket"));
}

TEST_CASE("bounds of a request head") {
    const auto sized = [](std::size_t size) {  // a whole head of that many bytes
        const std::string start = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
        return start + std::string(size - start.size() - 4, 'x') + "\r\n\r\n";
    };
    const auto verdict = [](const std::string& bytes, const HeadLimits& limits = {}) {
        const auto parsed = request(bytes, limits);
        return outcome(parsed->parse, parsed->head.framing);
    };
    CHECK(verdict(sized(60 * 1024)) == "ok none");
    CHECK(verdict("\r\n\r\n" + sized(60 * 1024)) == "ok none");
    CHECK(verdict(sized(60 * 1024 + 1)) == "431 close");
    CHECK(verdict(sized(60 * 1024 + 100).substr(0, 60 * 1024 + 1)) == "431 close");
    CHECK(verdict(sized(60 * 1024 + 100).substr(0, 60 * 1024)) == "more");
    for (const std::size_t size : {65530u, 65536u, 70000u, 200000u}) CHECK(verdict(sized(size)) == "431 close");
    CHECK(verdict(sized(100'000), {.head_bytes = 128 * 1024}) == "ok none");

    const auto target = [](std::size_t size) {
        return "GET /" + std::string(size - 1, 't') + " HTTP/1.1\r\nHost: a\r\n\r\n";
    };
    CHECK(verdict(target(16 * 1024)) == "ok none");
    CHECK(verdict(target(16 * 1024 + 1)) == "414 close");
    CHECK(verdict(target(16 * 1024 + 1).substr(0, 5 + 16 * 1024)) == "414 close");

    const auto fields = [](std::size_t count) {
        std::string bytes = "GET / HTTP/1.1\r\nHost: a\r\n";
        for (std::size_t i = 1; i < count; ++i) bytes += "X: 1\r\n";
        return bytes + "\r\n";
    };
    CHECK(verdict(fields(512)) == "ok none");
    CHECK(verdict(fields(513)) == "431 close");
    CHECK(verdict(fields(10'000)) == "431 close");
}

TEST_CASE("a dribbled head costs linear time and gives the same verdict") {
    const HeadLimits limits{.head_bytes = 1 << 20, .target_bytes = 1 << 19};
    std::string bytes = "GET /" + std::string(200'000, 't') + " HTTP/1.1\r\nHost: a\r\n";
    while (bytes.size() < 400'000) bytes += "X-Name: some value\r\n";
    RequestHead head;
    HeadProgress progress;
    const HeadLimits many{.head_bytes = limits.head_bytes, .fields = 100'000, .target_bytes = limits.target_bytes};
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
        if (parse_request_head(std::string_view(bytes).substr(0, size), many, head, progress).outcome !=
            ParseOutcome::need_more) {
            FAIL("decided too early");
        }
    }
    CHECK(progress.scanned == bytes.size());
    bytes += "\r\n";
    CHECK(parse_request_head(bytes, many, head, progress).outcome == ParseOutcome::complete);
    CHECK(progress.scanned == 0);
}

TEST_CASE("a faulty line is refused as soon as it is there") {
    RequestHead head;
    HeadProgress progress;
    std::string bytes = "GET / HTTP/1.1\r\nHost: a\r\n";
    CHECK(parse_request_head(bytes, {}, head, progress).outcome == ParseOutcome::need_more);
    CHECK(progress.started);
    bytes += "bad name: x\r\n";
    CHECK(parse_request_head(bytes, {}, head, progress).outcome == ParseOutcome::refused);
    CHECK_FALSE(progress.started);
    CHECK(parse_request_head("\r\n", {}, head, progress).outcome == ParseOutcome::need_more);
    CHECK_FALSE(progress.started);
}

TEST_CASE("a reused head allocates nothing and keeps nothing") {
    RequestHead head;
    const std::string first = "GET http://a/x HTTP/1.0\r\nConnection: a, b\r\nContent-Length: 4\r\n\r\n";
    const std::string second = "GET / HTTP/1.1\r\nHost: b\r\n\r\n";
    CHECK(parse_request_head(first, {}, head).outcome == ParseOutcome::complete);
    CHECK(parse_request_head(second, {}, head).outcome == ParseOutcome::complete);
    CHECK(head.fields.size() == 1);
    CHECK(head.connection_options.empty());
    CHECK(head.scheme.empty());
    CHECK(head.keep_alive);
    CHECK(head.framing == Framing::none());
}
