// The admin API over real loopback sockets.
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <catch2/catch.hpp>
#include <thread>

#include "admin_world.hpp"
#include "surfaces/admin/admin_server.hpp"

using namespace opid;
using boost::asio::ip::tcp;

namespace {

struct Served {
    explicit Served(AdminServerOptions options = {}) : server(options, world.api, world.events, world.timers) {
        const Result<AdminAddress> bound = server.bind();
        REQUIRE(bound);
        port = bound->port;
        thread = std::thread([this] { server.run(); });
    }
    ~Served() {
        server.stop();
        thread.join();
    }

    tcp::socket connect() {
        tcp::socket socket(context);
        socket.connect({boost::asio::ip::address_v4::loopback(), port});
        return socket;
    }
    // The whole answer, until the server closes.
    std::string talk(const std::string& request) {
        tcp::socket socket = connect();
        boost::system::error_code error;
        boost::asio::write(socket, boost::asio::buffer(request), error);
        std::string answer;
        boost::asio::read(socket, boost::asio::dynamic_buffer(answer), error);
        return answer;
    }
    std::string get(const std::string& target, const std::string& more = {}) {
        return talk("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n" + more + "\r\n");
    }

    opid::test::AdminWorld world;
    AdminServer server;
    std::uint16_t port = 0;
    boost::asio::io_context context;
    std::thread thread;
};

const std::string token = "Authorization: Bearer token-of-vera\r\n";

}  // namespace

TEST_CASE("health needs no token, operations do") {
    Served served;
    CHECK(served.get("/healthz").starts_with("HTTP/1.1 200 OK\r\n"));
    const std::string refused = served.get("/v1/operations");
    CHECK(refused.starts_with("HTTP/1.1 401 "));
    CHECK(refused.find("application/problem+json") != std::string::npos);
    CHECK(refused.find("WWW-Authenticate: Bearer") != std::string::npos);
    CHECK(served.get("/v1/operations", token).starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(served.get("/", "").find("text/html") != std::string::npos);
    CHECK(served.get("/v1/operations", token + "Origin: http://evil.test\r\n").starts_with("HTTP/1.1 403 "));
}

TEST_CASE("two Host lines, garbage, and too much") {
    AdminServerOptions options;
    options.body_max = 1000;
    Served served(options);
    CHECK(served.get("/healthz", "Host: evil.test\r\n").starts_with("HTTP/1.1 403 "));
    CHECK(served.talk("garbage\r\n\r\n").starts_with("HTTP/1.1 400 "));
    CHECK(served.get("/healthz", "X: " + std::string(20000, 'a') + "\r\n").starts_with("HTTP/1.1 413 "));
    CHECK(served.talk("POST /v1/operations HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1001\r\n\r\n")
              .starts_with("HTTP/1.1 413 "));
    CHECK(served.get("/healthz").starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST_CASE("one connection carries several requests, HEAD without a body") {
    Served served;
    const std::string one = "HEAD /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    const std::string last = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    const std::string answer = served.talk(one + last);
    CHECK(answer.find("HTTP/1.1 200 OK", 10) != std::string::npos);
    CHECK(answer.substr(answer.size() - 7) == "\r\n\r\nok\n");
    CHECK(answer.find("ok\n") == answer.size() - 3);
}

TEST_CASE("events arrive as they happen") {
    Served served;
    tcp::socket socket = served.connect();
    boost::asio::write(socket, boost::asio::buffer("GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n" + token + "\r\n"));
    std::string text;
    boost::asio::read_until(socket, boost::asio::dynamic_buffer(text), "retry: 2000\n\n");
    CHECK(text.find("Content-Type: text/event-stream") != std::string::npos);
    served.world.events.trouble("store", "full\nline");
    boost::asio::read_until(socket, boost::asio::dynamic_buffer(text), "full\\nline\"}\n\n");
    CHECK(text.find("id: 1\ndata: {\"kind\":\"trouble\"") != std::string::npos);
}

TEST_CASE("a port that is taken is a clear error") {
    Served served;
    AdminServerOptions options;
    options.port = served.port;
    AdminServer second(options, served.world.api, served.world.events, served.world.timers);
    const Result<AdminAddress> bound = second.bind();
    REQUIRE_FALSE(bound);
    CHECK(bound.error().what().find("127.0.0.1:" + std::to_string(served.port)) != std::string::npos);
}
