// A second opinion: where a request is accepted here, Boost.Beast's parser must read the same parts and the same
// framing. The two disagree on purpose where Beast 1.81 is too lax or too strict; those rows say so.
#include <catch2/catch.hpp>

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include "http_samples.hpp"

using namespace opid::http;
namespace beast_http = boost::beast::http;

namespace {

std::string beast_outcome(const std::string& bytes) {
    beast_http::request_parser<beast_http::empty_body> parser;
    parser.header_limit(60 * 1024);
    parser.eager(false);
    boost::system::error_code error;
    parser.put(boost::asio::buffer(bytes), error);
    if (error && error != beast_http::error::need_more) return "refused";
    if (!parser.is_header_done()) return "more";
    if (parser.chunked()) return "ok chunked";
    if (const auto length = parser.content_length()) return "ok length " + std::to_string(*length);
    return "ok none";
}

}  // namespace

TEST_CASE("accepted requests are read alike by Beast") {
    const std::string accepted[] = {
        "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "get /x?y=%2F|\"{} HTTP/1.1\r\nHost: a:80\r\nX:\r\nY: \t a b\t\r\n\r\n",
        "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
        "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 0005\r\n\r\n",
        "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
        "POST /x HTTP/1.1\r\nHost: a\r\ntransfer-encoding: Chunked\r\n\r\n",
        "QUERY /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n",
        "CONNECT a:443 HTTP/1.1\r\nHost: a\r\nProxy-Connection: keep-alive\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "GET http://a/b HTTP/1.1\r\nHost: c\r\nCookie: \xc3\xa9\r\n\r\n",
        "DELETE /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n",
    };
    for (const std::string& bytes : accepted) {
        INFO(bytes);
        const auto mine = request(bytes);
        REQUIRE(mine->parse.outcome == ParseOutcome::complete);
        CHECK(outcome(mine->parse, mine->head.framing) == beast_outcome(bytes));

        beast_http::request_parser<beast_http::empty_body> parser;
        parser.eager(false);
        boost::system::error_code error;
        CHECK(parser.put(boost::asio::buffer(bytes), error) == mine->parse.consumed);
        CHECK(std::string_view(parser.get().method_string().data(), parser.get().method_string().size()) ==
              mine->head.method);
        CHECK(std::string_view(parser.get().target().data(), parser.get().target().size()) == mine->head.target);
        CHECK(parser.keep_alive() == mine->head.keep_alive);
        std::size_t count = 0;
        for (const auto& field : parser.get().base()) {
            ++count;
            const std::string_view name(field.name_string().data(), field.name_string().size());
            const std::string_view value(field.value().data(), field.value().size());
            const auto values = mine->head.fields.values(name);
            CHECK(std::find(values.begin(), values.end(), value) != values.end());
        }
        CHECK(count == mine->head.fields.size());
    }
}

TEST_CASE("where opid and Beast 1.81 part on purpose") {
    const std::string lax[] = {
        "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
        "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
        "POST /x HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n",
        "GET /x HTTP/1.1\r\n\r\n",
        "GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET /x#y HTTP/1.1\r\nHost: a\r\n\r\n",
    };
    for (const std::string& bytes : lax) {
        INFO(bytes);
        CHECK(beast_outcome(bytes).substr(0, 2) == "ok");
        CHECK(request(bytes)->parse.outcome == ParseOutcome::refused);
    }
    const std::string strict[] = {"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.7\r\nHost: a\r\n\r\n"};
    for (const std::string& bytes : strict) {
        INFO(bytes);
        CHECK(beast_outcome(bytes) == "refused");
        CHECK(request(bytes)->parse.outcome == ParseOutcome::complete);
    }
}
