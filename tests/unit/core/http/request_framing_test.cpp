// Requests whose framing or syntax could be read in two ways, and what becomes of each.
#include <catch2/catch.hpp>

#include "http_samples.hpp"

using namespace opid::http;
using namespace std::string_literals;

namespace {

struct Row {
    const char* id;
    std::string bytes;
    const char* outcome;
};

void check(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        const auto whole = request(row.bytes);
        INFO(row.id << " " << row.bytes << " -> " << whole->parse.refusal.detail);
        CHECK(outcome(whole->parse, whole->head.framing) == row.outcome);
        // Byte by byte the verdict must be the same.
        RequestHead head;
        HeadProgress progress;
        HeadParse parse;
        for (std::size_t size = 1; size <= row.bytes.size() && parse.outcome == ParseOutcome::need_more; ++size) {
            parse = parse_request_head(std::string_view(row.bytes).substr(0, size), {}, head, progress);
        }
        CHECK(outcome(parse, head.framing) == row.outcome);
        CHECK(parse.consumed == whole->parse.consumed);
        CHECK(parse.refusal.detail == whole->parse.refusal.detail);
    }
}

std::string post(const std::string& fields) { return "POST /x HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n"; }
std::string get(const std::string& fields) { return "GET /x HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n"; }
std::string line(const std::string& start) { return start + "\r\nHost: a\r\n\r\n"; }

}  // namespace

TEST_CASE("Transfer-Encoding and Content-Length of requests") {
    check({
        {"F01", post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), "400 close"},
        {"F01", post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), "400 close"},
        {"F01", post("Transfer-Encoding: gzip\r\nContent-Length: 5\r\n"), "400 close"},
        {"F02", post("Transfer-Encoding: gzip\r\n"), "400 close"},
        {"F03", post("Transfer-Encoding: chunked, gzip\r\n"), "400 close"},
        {"F03", post("Transfer-Encoding: chunked, chunked\r\n"), "400 close"},
        {"F03", post("Transfer-Encoding: xchunked\r\n"), "400 close"},
        {"F03", post("Transfer-Encoding: \"chunked\"\r\n"), "400 close"},
        {"F04", post("Transfer-Encoding: gzip, chunked\r\n"), "501 close"},
        {"F04", post("Transfer-Encoding: gzip,deflate , chunked\r\n"), "501 close"},
        {"F05", post("Transfer-Encoding: ,chunked\r\n"), "400 close"},
        {"F05", post("Transfer-Encoding: chunked,\r\n"), "400 close"},
        {"F05", post("Transfer-Encoding: chunked;a=b\r\n"), "400 close"},
        {"F05", post("Transfer-Encoding:\r\n"), "400 close"},
        {"F05", post("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n"), "400 close"},
        {"F05", post("Transfer-Encoding: identity, chunked\r\n"), "400 close"},
        {"F05", post("Transfer-Encoding: identity\r\n"), "400 close"},
        {"F05", post("Transfer-Encoding: chunked\x0b\r\n"), "400 close"},
        {"F06", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), "400 close"},
        {"F07", "POST /x HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "400 close"},
        {"F45", post("Transfer-Encoding: chunked\r\n"), "ok chunked"},
        {"F45", post("transfer-encoding:\tChunked \r\n"), "ok chunked"},
        {"F08", post("Content-Length: +5\r\n"), "400 close"},
        {"F08", post("Content-Length: -5\r\n"), "400 close"},
        {"F08", post("Content-Length: 0x5\r\n"), "400 close"},
        {"F08", post("Content-Length: 1_0\r\n"), "400 close"},
        {"F08", post("Content-Length: 5 5\r\n"), "400 close"},
        {"F08", post("Content-Length:\r\n"), "400 close"},
        {"F08", post("Content-Length: 5,\r\n"), "400 close"},
        {"F08", post("Content-Length: 9223372036854775808\r\n"), "400 close"},
        {"F08", post("Content-Length: 18446744073709551621\r\n"), "400 close"},
        {"F08", post("Content-Length: 9223372036854775807\r\n"), "ok length 9223372036854775807"},
        {"F09", post("Content-Length: 5\r\nContent-Length: 5\r\n"), "ok length 5"},
        {"F09", post("Content-Length: 5, 5\r\n"), "ok length 5"},
        {"F10", post("Content-Length: 5\r\nContent-Length: 6\r\n"), "400 close"},
        {"F10", post("Content-Length: 5, 6\r\n"), "400 close"},
        {"F11", post("Content-Length: 0005\r\n"), "ok length 5"},
        {"F44", post("Content-Length: 0\r\n"), "ok length 0"},
        {"F46", get("Content-Length: 3\r\n"), "ok length 3"},
        {"F46", "DELETE /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "ok chunked"},
        {"", post(""), "ok none"},
        {"C08", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n", "400 close"},
        {"C08", "CONNECT a:443 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "400 close"},
    });
}

TEST_CASE("lines and bytes of a request head") {
    check({
        {"F12", post("Content-Length : 5\r\n"), "400 close"},
        {"F12", post("X-A\t: 5\r\n"), "400 close"},
        {"F13", post("X-A: 1\r\n folded\r\n"), "400 close"},
        {"F13", post("Transfer-Encoding:\r\n chunked\r\n"), "400 close"},
        {"F13", post("Content-Length: 5\r\n\t6\r\n"), "400 close"},
        {"F14", "GET /x HTTP/1.1\nHost: a\r\n\r\n", "400 close"},
        {"F14", "GET /x HTTP/1.1\r\nHost: a\nX: y\r\n\r\n", "400 close"},
        {"F14", "GET /x HTTP/1.1\r\nHost: a\r\nX: y\n", "400 close"},
        {"F15", "GET /x HTTP/1.1\r\nHost: a\r\n\n", "400 close"},
        {"F15", "GET /x HTTP/1.1\r\n\n", "400 close"},
        {"F16", get("X: a\rb\r\n"), "400 close"},
        {"F16", get("X: a\0b\r\n"s), "400 close"},
        {"F16", get("X: a\x01\r\n"), "400 close"},
        {"F16", get("X: a\x1f\r\n"), "400 close"},
        {"F16", get("X: a\x7f\r\n"), "400 close"},
        {"F16", get("X: " + std::string(40, 'v') + "\x7f" + std::string(40, 'v') + "\r\n"), "400 close"},
        {"F16", get("X: " + std::string(40, 'v') + "\t\xc3\xa9\x80\xff" + std::string(40, 'v') + "\r\n"), "ok none"},
        {"F16", get("X: a\tb\r\nY:\r\nZ: \t \r\n"), "ok none"},
        {"F17", get("X\x80: a\r\n"), "400 close"},
        {"F17", get("X@: a\r\n"), "400 close"},
        {"F17", get(": a\r\n"), "400 close"},
        {"F17", get("no colon\r\n"), "400 close"},
        {"F17", get("nocolon\r\n"), "400 close"},
        {"F17", get("X\0: a\r\n"s), "400 close"},
        {"F18", "GET /x HTTP/1.1\r\n Host: a\r\n\r\n", "400 close"},
        {"F18", "GET /x HTTP/1.1\r\n\tX: y\r\nHost: a\r\n\r\n", "400 close"},
        {"F21", "\r\n" + get(""), "ok none"},
        {"F21", "\r\n\r\n" + get(""), "ok none"},
        {"F21", "\n" + get(""), "400 close"},
        {"F21", "\rG" + get(""), "400 close"},
        {"F21", "\r\n", "more"},
        {"F21", "\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n", "400 close"},
        {"T35", "\x16\x03\x01\x02", "400 close"},
        {"", "GET /x HTTP/1.1\r\nHost: a\r\n", "more"},
        {"", "GET /x HTTP/1.1\r\nHost: a\r\n\r", "more"},
        {"", "GET /x HTTP/1.1\r\nHost: a\r\n\rX", "400 close"},
    });
}

TEST_CASE("request lines") {
    const std::string longest_method(64, 'M');
    check({
        {"F22", line("GET /x HTTP/1.2"), "ok none"},
        {"F22", line("GET /x HTTP/1.9"), "ok none"},
        {"F23", line("GET /x HTTP/2.0"), "505 close"},
        {"F23", line("GET /x HTTP/0.9"), "505 close"},
        {"F23", line("GET /x HTTP/3.1"), "505 close"},
        {"F23", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505 close"},
        {"F23", "GET /x\r\n", "400 close"},
        {"F23", "GET /\n", "400 close"},
        {"F23", line("GET /x http/1.1"), "400 close"},
        {"F23", line("GET /x HTTP/1.10"), "400 close"},
        {"F23", line("GET /x HTTP/11"), "400 close"},
        {"F23", line("GET /x HTTP/1."), "400 close"},
        {"F23", line("GET /x HTTP/1"), "400 close"},
        {"F23", line("GET /x HTTPS/1.1"), "400 close"},
        {"F23", line("GET /x HTTP/1.1x"), "400 close"},
        {"F24", line("GET  /x HTTP/1.1"), "400 close"},
        {"F24", line("GET /x  HTTP/1.1"), "400 close"},
        {"F24", line("GET\t/x HTTP/1.1"), "400 close"},
        {"F24", line("GET /x HTTP/1.1 "), "400 close"},
        {"F24", line("GET /a b HTTP/1.1"), "400 close"},
        {"F24", line("GET  HTTP/1.1"), "400 close"},
        {"F24", line(" GET /x HTTP/1.1"), "400 close"},
        {"F24", line("GET"), "400 close"},
        {"F25", line("GET /x\x01 HTTP/1.1"), "400 close"},
        {"F25", line("GET /x\x7f HTTP/1.1"), "400 close"},
        {"F25", line("GET /x\0 HTTP/1.1"s), "400 close"},
        {"F25", line("GET /x#part HTTP/1.1"), "400 close"},
        {"F25", line("GET /0123456789abcdef0123456789#part HTTP/1.1"), "400 close"},
        {"F26", line("GET /\xc3\xa9|\"{}\\%00%0d%0a../;a?b=[1] HTTP/1.1"), "ok none"},
        {"F27", line("QUERY /x HTTP/1.1"), "ok none"},
        {"F27", line("get /x HTTP/1.1"), "ok none"},
        {"F27", line("G(T /x HTTP/1.1"), "400 close"},
        {"F27", line(longest_method + " /x HTTP/1.1"), "ok none"},
        {"F27", line(longest_method + "M /x HTTP/1.1"), "501 close"},
        {"", line("GET x HTTP/1.1"), "400 close"},
        {"", line("GET * HTTP/1.1"), "400 close"},
        {"", line("OPTIONS * HTTP/1.1"), "ok none"},
        {"", line("GET a:80 HTTP/1.1"), "400 close"},
    });
}

TEST_CASE("Host") {
    check({
        {"F19", "GET /x HTTP/1.1\r\n\r\n", "400 close"},
        {"F19", "GET /x HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "400 close"},
        {"F19", "GET /x HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", "400 close"},
        {"F19", "GET /x HTTP/1.1\r\nHost:\r\n\r\n", "400 close"},
        {"F19", "GET /x HTTP/1.1\r\nHost: u@a\r\n\r\n", "400 close"},
        {"F19", "GET /x HTTP/1.1\r\nHost: a/b\r\n\r\n", "400 close"},
        {"F19", "GET /x HTTP/1.1\r\nHost: a,b\r\n\r\n", "400 close"},
        {"F19", "GET /x HTTP/1.1\r\nHost: a b\r\n\r\n", "400 close"},
        {"F19", "GET /x HTTP/1.1\r\nHost: a\x01\r\n\r\n", "400 close"},
        {"F19", "GET /x HTTP/1.1\r\nHost: a:0\r\n\r\n", "400 close"},
        {"F19", "GET /x HTTP/1.1\r\nHost: a:99999\r\n\r\n", "400 close"},
        {"F19", "GET /x HTTP/1.1\r\nHost: a:80:80\r\n\r\n", "400 close"},
        {"F19", "GET /x HTTP/1.1\r\nHost: [::1\r\n\r\n", "400 close"},
        {"F19", "GET /x HTTP/1.1\r\nHost: %61\r\n\r\n", "400 close"},
        {"F19", "GET /x HTTP/1.1\r\nHost: a:8080\r\n\r\n", "ok none"},
        {"F19", "GET /x HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", "ok none"},
        {"F20", "GET /x HTTP/1.0\r\n\r\n", "ok none"},
        {"F20", "CONNECT a:443 HTTP/1.1\r\n\r\n", "ok none"},
        {"F20", "CONNECT a:443 HTTP/1.0\r\n\r\n", "ok none"},
    });
}

TEST_CASE("refusals after which the connection may go on") {
    check({
        {"C02", line("CONNECT a HTTP/1.1"), "400 open"},
        {"C02", line("CONNECT a: HTTP/1.1"), "400 open"},
        {"C02", line("CONNECT a:0 HTTP/1.1"), "400 open"},
        {"C02", line("CONNECT a:65536 HTTP/1.1"), "400 open"},
        {"C02", line("CONNECT a:443/x HTTP/1.1"), "400 open"},
        {"C02", line("CONNECT https://a:443 HTTP/1.1"), "400 open"},
        {"C02", line("CONNECT u@a:443 HTTP/1.1"), "400 open"},
        {"C02", line("CONNECT :443 HTTP/1.1"), "400 open"},
        {"C02", "CONNECT a HTTP/1.0\r\n\r\n", "400 close"},
        {"C03", line("CONNECT [2001:db8::1]:443 HTTP/1.1"), "ok none"},
        {"C03", line("CONNECT [fe80::1%eth0]:443 HTTP/1.1"), "400 open"},
        {"X11", line("GET ftp://a/ HTTP/1.1"), "501 open"},
        {"X11", line("GET ws://a/ HTTP/1.1"), "501 open"},
        {"X11", "POST gopher://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n", "501 close"},
        {"X12", line("GET http://u:p@a/ HTTP/1.1"), "400 open"},
        {"S11", get("Expect: something-else\r\n"), "417 open"},
        {"S11", post("Expect: 100-continue, x\r\nContent-Length: 3\r\n"), "417 close"},
        {"S08", post("Expect: 100-Continue\r\nContent-Length: 3\r\n"), "ok length 3"},
    });
    const auto parsed = request(line("CONNECT a HTTP/1.1") + "more");
    CHECK(parsed->parse.consumed == parsed->bytes.size() - 4);
    CHECK(request(line("GET http://u:secret@a/ HTTP/1.1"))->parse.refusal.detail.find("secret") ==
          std::string_view::npos);
}
