// Response heads: framing by status, method and fields; what makes a connection unfit for reuse.
#include <catch2/catch.hpp>

#include "http_samples.hpp"

using namespace opid::http;

namespace {

struct Row {
    const char* id;
    const char* method;
    std::string bytes;
    const char* outcome;
    bool reusable;
};

void check(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        const auto whole = response(row.bytes, row.method);
        INFO(row.id << " " << row.method << " " << row.bytes << " -> " << whole->parse.refusal.detail);
        CHECK(outcome(whole->parse, whole->head.framing) == row.outcome);
        if (whole->parse.outcome == ParseOutcome::complete) CHECK(whole->head.reusable == row.reusable);
        if (whole->parse.outcome == ParseOutcome::refused) CHECK(whole->parse.refusal.slug == "upstream-invalid");
        ResponseHead head;
        HeadProgress progress;
        HeadParse parse;
        for (std::size_t size = 1; size <= row.bytes.size() && parse.outcome == ParseOutcome::need_more; ++size) {
            parse = parse_response_head(std::string_view(row.bytes).substr(0, size), {}, row.method, head, progress);
        }
        CHECK(outcome(parse, head.framing) == row.outcome);
        CHECK(parse.refusal.detail == whole->parse.refusal.detail);
    }
}

std::string answer(const std::string& status, const std::string& fields = "") {
    return "HTTP/1.1 " + status + "\r\n" + fields + "\r\n";
}

}  // namespace

TEST_CASE("framing of responses") {
    check({
        {"F36", "GET", answer("200 OK"), "ok until_close", false},
        {"", "GET", answer("200 OK", "Content-Length: 5\r\n"), "ok length 5", true},
        {"", "GET", answer("200 OK", "Content-Length: 5\r\nConnection: Close\r\n"), "ok length 5", false},
        {"", "GET", answer("200 OK", "Transfer-Encoding: chunked\r\n"), "ok chunked", true},
        {"F37", "HEAD", answer("200 OK", "Content-Length: 5\r\n"), "ok none", true},
        {"F37", "HEAD", answer("200 OK", "Transfer-Encoding: chunked\r\n"), "ok none", true},
        {"F37", "HEAD", answer("200 OK"), "ok none", true},
        {"F37", "GET", answer("204 No Content", "Content-Length: 5\r\n"), "ok none", true},
        {"F37", "GET", answer("304 Not Modified", "Content-Length: 5\r\n"), "ok none", true},
        {"F37", "GET", answer("304 Not Modified", "Transfer-Encoding: chunked\r\n"), "ok none", true},
        {"F42", "POST", answer("100 Continue", "Content-Length: 0\r\n"), "ok none", true},
        {"U01", "GET", answer("101 Switching Protocols", "Upgrade: websocket\r\n"), "ok none", false},
        {"C20", "CONNECT", answer("200 OK", "Content-Length: 5\r\n"), "ok none", false},
        {"C20", "CONNECT", answer("407 No", "Content-Length: 5\r\n"), "ok length 5", true},
        {"F38", "GET", answer("200 OK", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), "ok chunked", false},
        {"F39", "GET", answer("200 OK", "Transfer-Encoding: gzip\r\n"), "ok until_close", false},
        {"F39", "GET", answer("200 OK", "Transfer-Encoding: gzip, chunked\r\n"), "502 close", false},
        {"F05", "GET", answer("200 OK", "Transfer-Encoding: chunked, chunked\r\n"), "502 close", false},
        {"F05", "GET", answer("200 OK", "Transfer-Encoding: ,chunked\r\n"), "502 close", false},
        {"F06", "GET", answer("200 OK", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), "502 close",
         false},
        {"F08", "GET", answer("200 OK", "Content-Length: 5x\r\n"), "502 close", false},
        {"F09", "GET", answer("200 OK", "Content-Length: 5\r\nContent-Length: 5\r\n"), "ok length 5", true},
        {"F10", "GET", answer("200 OK", "Content-Length: 5\r\nContent-Length: 6\r\n"), "502 close", false},
        {"K13", "GET", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", "ok length 5", false},
        {"K13", "GET", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\n", "ok length 5", true},
        {"F07", "GET", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n", "ok chunked",
         false},
    });
}

TEST_CASE("lines and bytes of a response head") {
    check({
        {"F40", "GET", "HTTP/1.1 200\r\nContent-Length: 1\r\n\r\n", "ok length 1", true},
        {"F40", "GET", "HTTP/1.1 200 \r\nContent-Length: 1\r\n\r\n", "ok length 1", true},
        {"F40", "GET", "HTTP/1.1 999 Caf\xc3\xa9\tx\r\nContent-Length: 1\r\n\r\n", "ok length 1", true},
        {"F12", "GET", answer("200 OK", "Content-Length : 1\r\n"), "ok length 1", true},
        {"F12", "GET", answer("200 OK", "Content Length: 1\r\n"), "502 close", false},
        {"F13", "GET", answer("200 OK", "X: 1\r\n folded\r\n"), "502 close", false},
        {"F16", "GET", answer("200 OK", "X: \x01\r\n"), "502 close", false},
        {"F16", "GET", answer("200 O\x01K"), "502 close", false},
        {"F14", "GET", "HTTP/1.1 200 OK\nX: y\r\n\r\n", "502 close", false},
        {"F14", "GET", "HTTP/1.1 200\nX: y\r\n\r\n", "502 close", false},
        {"F14", "GET", "HTTP/1.1\n", "502 close", false},
        {"F15", "GET", "HTTP/1.1 200 OK\r\nX: y\r\n\n", "502 close", false},
        {"", "GET", "HTTP/2 200\r\n\r\n", "502 close", false},
        {"", "GET", "HTTP/2.0 200 OK\r\n\r\n", "502 close", false},
        {"", "GET", "ICY 200 OK\r\n\r\n", "502 close", false},
        {"", "GET", "SSH-2.0-x\r\n", "502 close", false},
        {"", "GET", answer("20 OK"), "502 close", false},
        {"", "GET", answer("2000 OK"), "502 close", false},
        {"", "GET", answer("099 OK"), "502 close", false},
        {"", "GET", answer("2x0 OK"), "502 close", false},
        {"", "GET", "\r\nHTTP/1.1 200 OK\r\n\r\n", "502 close", false},
        {"", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n", "more", false},
    });
}

TEST_CASE("interim responses are heads of their own") {
    const std::string bytes = answer("100 Continue") + answer("103 Early Hints", "Link: </a>\r\n") +
                              answer("200 OK", "Content-Length: 0\r\n");
    std::string_view rest = bytes;
    std::vector<int> seen;
    ResponseHead head;
    HeadProgress progress;
    do {
        const HeadParse parse = parse_response_head(rest, {}, "GET", head, progress);
        REQUIRE(parse.outcome == ParseOutcome::complete);
        seen.push_back(head.status);
        rest.remove_prefix(parse.consumed);
    } while (head.interim());
    CHECK(seen == std::vector<int>{100, 103, 200});
    CHECK(head.fields.size() == 1);
    CHECK_FALSE(response(answer("101 Switching Protocols"))->head.interim());
}

TEST_CASE("bounds of a response head") {
    const auto verdict = [](const std::string& bytes) {
        const auto parsed = response(bytes);
        return outcome(parsed->parse, parsed->head.framing);
    };
    CHECK(verdict(answer("200 OK", "Content-Length: 0\r\nX: " + std::string(59'000, 'x') + "\r\n")) == "ok length 0");
    for (const std::size_t size : {65530u, 65536u, 70000u}) {
        CHECK(verdict(answer("200 OK", "X: " + std::string(size, 'x') + "\r\n")) == "502 close");
    }
    CHECK(verdict("HTTP/1.1 200 " + std::string(62'000, 'r')) == "502 close");
    std::string many;
    for (int i = 0; i < 513; ++i) many += "X: 1\r\n";
    CHECK(verdict(answer("200 OK", many)) == "502 close");
}
