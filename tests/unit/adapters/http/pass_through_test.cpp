#include "loopback.hpp"

namespace opid::test {

namespace {

std::string get(const Server& server, std::string_view path = "/", std::string_view more = "") {
    return "GET http://" + server.authority() + std::string(path) + " HTTP/1.1\r\nHost: other.example\r\n" +
           std::string(more) + "\r\n";
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

TEST_CASE("a request goes on in origin form with its own authority, an answer comes back") {
    Plane plane;
    Server server;
    Peer client = plane.client();
    client.send(get(server, "/a%00b?x=1|2", "X-One: 1\r\nx-two:  b \r\nAccept: */*\r\n"));
    Peer origin = server.accept();
    CHECK(origin.read_head() == "GET /a%00b?x=1|2 HTTP/1.1\r\nHost: " + server.authority() +
                                    "\r\nX-One: 1\r\nx-two: b\r\nAccept: */*\r\nVia: 1.1 opid\r\n\r\n");
    origin.send(
        "HTTP/1.1 200 Fine\r\nContent-Length: 5\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nKeep-Alive: timeout=5\r\n"
        "Opid-Problem: forged\r\n\r\nhello");
    CHECK(client.read_head() ==
          "HTTP/1.1 200 Fine\r\nContent-Length: 5\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nVia: 1.1 opid\r\n\r\n");
    CHECK(client.read_exactly(5) == "hello");
}

TEST_CASE("connections are kept on both sides and used again") {
    Plane plane;
    Server server;
    Peer client = plane.client();
    Peer origin;
    for (int i = 0; i < 5; ++i) {
        client.send(get(server));
        if (i == 0) origin = server.accept();
        origin.read_head();
        origin.send("HTTP/1.1 204 No Content\r\n\r\n");
        client.read_head();
    }
    CHECK(plane.metrics().upstream_connects.value() == 1);
    CHECK(plane.metrics().upstream_reuses.value() == 4);
    CHECK(server.nobody_waits());
}

TEST_CASE("pipelined requests are answered in order") {
    Plane plane;
    Server server;
    Peer client = plane.client();
    client.send(get(server, "/1") + get(server, "/2") + get(server, "/3"));
    Peer origin = server.accept();
    for (const std::string path : {"/1", "/2", "/3"}) {
        CHECK(has(origin.read_head(), "GET " + path + " "));
        CHECK(origin.silent());
        origin.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + path);
        client.read_head();
        CHECK(client.read_exactly(2) == path);
    }
}

TEST_CASE("bodies keep their framing: length stays length, chunked stays chunked, trailers go along") {
    Plane plane;
    Server server;
    Peer client = plane.client();
    client.send("POST http://" + server.authority() + "/ HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody");
    Peer origin = server.accept();
    CHECK(has(origin.read_head(), "\r\nContent-Length: 4\r\n"));
    CHECK(origin.read_exactly(4) == "body");
    origin.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;ext=1\r\nabc\r\n0\r\nX-Sum: 9\r\n\r\n");
    CHECK(has(client.read_head(), "\r\nTransfer-Encoding: chunked\r\n"));
    CHECK(client.read_until("\r\n\r\n") == "3\r\nabc\r\n0\r\nX-Sum: 9\r\n\r\n");

    client.send("POST http://" + server.authority() +
                "/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n");
    CHECK(has(origin.read_head(), "\r\nTransfer-Encoding: chunked\r\n"));
    CHECK(origin.read_exactly(7) == "2\r\nhi\r\n");
    client.send("5\r\nthere\r\n0\r\nHost: evil\r\nX-T: 1\r\n\r\n");
    CHECK(origin.read_until("\r\n\r\n") == "5\r\nthere\r\n0\r\nX-T: 1\r\n\r\n");
    origin.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    client.read_head();
}

TEST_CASE("an empty chunked answer ends once, and the next answer parses") {
    Plane plane;
    Server server;
    Peer client = plane.client();
    client.send(get(server));
    Peer origin = server.accept();
    origin.read_head();
    origin.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.read_head();
    origin.send("0\r\n\r\n");
    CHECK(client.read_exactly(5) == "0\r\n\r\n");
    client.send(get(server));
    origin.read_head();
    origin.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    CHECK(client.read_head().substr(0, 15) == "HTTP/1.1 200 OK");
}

TEST_CASE("events go through one by one") {
    Plane plane;
    Server server;
    Peer client = plane.client();
    client.send(get(server));
    Peer origin = server.accept();
    origin.read_head();
    origin.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.read_head();
    for (int i = 0; i < 3; ++i) {
        origin.send("9\r\ndata: 1\n\n\r\n");
        CHECK(client.read_exactly(14) == "9\r\ndata: 1\n\n\r\n");
    }
}

TEST_CASE("an answer up to the end of its connection is chunked for 1.1 and ends the connection for 1.0") {
    Plane plane;
    Server server;
    for (const bool old : {false, true}) {
        Peer client = plane.client();
        std::string request = get(server);
        if (old) request.replace(request.find("HTTP/1.1"), 8, "HTTP/1.0");
        client.send(request);
        Peer origin = server.accept();
        origin.read_head();
        origin.send("HTTP/1.1 200 OK\r\n\r\nall of it");
        origin.close();
        const std::string head = client.read_head();
        CHECK(has(head, "Transfer-Encoding: chunked") == !old);
        CHECK(has(head, "Connection: close") == old);
        if (old) CHECK(client.read_to_end() == "all of it");
        if (!old) CHECK(has(client.read_until("0\r\n\r\n"), "all of it"));
    }
}

TEST_CASE("an answer that is cut short looks cut") {
    Plane plane;
    Server server;
    for (const std::string body :
         {"Content-Length: 10\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"}) {
        Peer client = plane.client();
        client.send(get(server));
        Peer origin = server.accept();
        origin.read_head();
        origin.send("HTTP/1.1 200 OK\r\n" + body);
        origin.close();
        client.read_head();
        const std::string rest = client.read_to_end();
        CHECK(has(rest, "half"));
        CHECK_FALSE(has(rest, "0\r\n\r\n"));
    }
    CHECK(plane.metrics().answers_cut.value() == 2);
}

TEST_CASE("HEAD, 204 and 304 have no body, whatever they say") {
    Plane plane;
    Server server;
    Peer client = plane.client();
    std::string head = get(server);
    head.replace(0, 3, "HEAD");
    client.send(head);
    Peer origin = server.accept();
    origin.read_head();
    origin.send("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n");
    CHECK(has(client.read_head(), "Content-Length: 99"));
    client.send(get(server));
    origin.read_head();
    origin.send("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n");
    CHECK_FALSE(has(client.read_head(), "Transfer-Encoding"));
}

TEST_CASE("interim answers are relayed to 1.1 clients") {
    Plane plane;
    Server server;
    Peer client = plane.client();
    client.send("POST http://" + server.authority() +
                "/ HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
    Peer origin = server.accept();
    CHECK(has(origin.read_head(), "Expect: 100-continue"));
    origin.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\nContent-Length: 0\r\n\r\n");
    CHECK(has(client.read_head(), "103 Early Hints"));
    CHECK(has(client.read_head(), "100 Continue"));
    client.send("body");
    CHECK(origin.read_exactly(4) == "body");
    origin.send("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n");
    CHECK(has(client.read_head(), "201 Created"));
}

TEST_CASE("a silent origin does not keep a client waiting for 100 Continue") {
    Plane plane;
    Server server;
    Peer client = plane.client();
    client.send("POST http://" + server.authority() +
                "/ HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
    Peer origin = server.accept();
    origin.read_head();
    CHECK(client.read_head() == "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("body");
    CHECK(origin.read_exactly(4) == "body");
    origin.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    CHECK(has(client.read_head(), "200 OK"));  // the late 100 is not told twice
}

TEST_CASE("an answer before the body ends the upload and the connection") {
    Plane plane;
    Server server;
    Peer client = plane.client();
    client.send("POST http://" + server.authority() + "/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\npart");
    Peer origin = server.accept();
    origin.read_head();
    origin.read_exactly(4);
    origin.send("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\n\r\nbig");
    CHECK(has(client.read_head(), "Connection: close"));
    CHECK(client.read_exactly(3) == "big");
    CHECK(client.read_to_end().empty());
    CHECK(origin.read_to_end().empty());
}

TEST_CASE("a bodyless read is sent again when a rested connection turns out dead, once, and nothing else is") {
    Plane plane;
    Server server;
    Peer client = plane.client();
    const auto warm = [&] {
        client.send(get(server));
        Peer origin = server.accept();
        origin.read_head();
        origin.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        client.read_head();
        return origin;
    };
    {
        Peer origin = warm();
        client.send(get(server, "/again"));
        origin.read_head();
        origin.close();
        Peer second = server.accept();
        CHECK(has(second.read_head(), "GET /again "));
        second.close();
        CHECK(has(client.read_head(), "502 Bad Gateway"));
    }
    CHECK(plane.metrics().upstream_retries.value() == 1);
    client = plane.client();
    Peer origin = warm();
    client.send("POST http://" + server.authority() + "/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx");
    origin.read_head();
    origin.close();
    const std::string head = client.read_head();
    CHECK(has(head, "502 Bad Gateway"));
    CHECK(has(head, "Opid-Problem: unreachable"));
    CHECK(server.nobody_waits());
    CHECK(plane.metrics().upstream_retries.value() == 1);
}

TEST_CASE("a client that leaves takes its exchange with it") {
    Plane plane;
    Server server;
    Peer client = plane.client();
    client.send(get(server));
    Peer origin = server.accept();
    origin.read_head();
    client.close();
    CHECK(origin.read_to_end().empty());
    CHECK(plane.metrics().clients_gone.value() == 1);
}

TEST_CASE("large bodies pass both ways at the same time") {
    Plane plane;
    Server server;
    Peer client = plane.client();
    const std::string big(4 * 1024 * 1024, 'x');
    client.send("POST http://" + server.authority() +
                "/ HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(big.size()) + "\r\n\r\n");
    Peer origin = server.accept();
    origin.read_head();
    constexpr std::size_t step = 64 * 1024;
    for (std::size_t at = 0; at < big.size(); at += step) {
        client.send(std::string_view(big).substr(at, step));
        CHECK(origin.read_exactly(step).size() == step);
    }
    origin.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(big.size()) + "\r\n\r\n");
    client.read_head();
    for (std::size_t at = 0; at < big.size(); at += step) {
        origin.send(std::string_view(big).substr(at, step));
        CHECK(client.read_exactly(step).size() == step);
    }
}

TEST_CASE("what can't be reached or may not be reached is told apart") {
    Plane plane;
    std::uint16_t closed = 0;
    {
        const Server gone;
        closed = gone.port;
    }
    Peer client = plane.client();
    client.send("GET http://127.0.0.1:" + std::to_string(closed) + "/ HTTP/1.1\r\nHost: x\r\n\r\n");
    std::string head = client.read_head();
    CHECK(has(head, "502 Bad Gateway"));
    CHECK(has(head, "Cache-Control: no-store"));
    const std::size_t at = head.find("Content-Length: ");
    REQUIRE(at != std::string::npos);
    CHECK(has(client.read_exactly(std::stoul(head.substr(at + 16))), "connect refused"));

    client.send("GET http://10.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n");  // the connection has stayed
    head = client.read_head();
    CHECK(has(head, "403 Forbidden"));
    Peer self = plane.client();
    self.send("GET http://127.0.0.1:" + std::to_string(plane.port) + "/ HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(has(self.read_head(), "508 Loop Detected"));
    Peer looped = plane.client();
    looped.send("GET http://example.com/ HTTP/1.1\r\nHost: x\r\nVia: 1.1 opid\r\n\r\n");
    CHECK(has(looped.read_head(), "508 Loop Detected"));
}

TEST_CASE("malformed requests are answered and end the connection; nothing goes on") {
    Plane plane;
    const Server server;
    for (const std::string& request :
         {std::string("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), std::string("GET / HTTP/1.1\nHost: a\r\n\r\n"),
          "POST http://" + server.authority() +
              "/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
          "POST http://" + server.authority() + "/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\n"}) {
        CAPTURE(request);
        Peer client = plane.client();
        client.send(request);
        const std::string answer = client.read_to_end();
        CHECK(has(answer, "HTTP/1.1 400 "));
        CHECK(has(answer, "Connection: close"));
    }
    CHECK(server.nobody_waits());
}

TEST_CASE("our own address explains itself, and OPTIONS and TRACE may end here") {
    Plane plane;
    Peer client = plane.client();
    client.send("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    CHECK(has(client.read_head(), "404 Not Found"));
    Peer second = plane.client();
    second.send("OPTIONS http://example.com/ HTTP/1.1\r\nHost: x\r\nMax-Forwards: 0\r\n\r\n");
    CHECK(has(second.read_head(), "200 OK"));
    Server server;
    Peer third = plane.client();
    std::string options = get(server, "/", "Max-Forwards: 3\r\n");
    options.replace(0, 3, "OPTIONS");
    third.send(options);
    Peer origin = server.accept();
    CHECK(has(origin.read_head(), "Max-Forwards: 2\r\n"));
}

TEST_CASE("TLS to the plain port is closed at once") {
    Plane plane;
    Peer client = plane.client();
    client.send(std::string("\x16\x03\x01\x02\x00\x01", 6));
    CHECK(client.read_to_end().empty());
}

TEST_CASE("configured tenants are asked for before anything is forwarded, and the connection stays") {
    DataPlaneOptions options;
    options.tenants = {{"agent", {sha256("secret")}}};
    Plane plane({}, {}, options);
    Server server;
    Peer client = plane.client();
    client.send(get(server));
    const std::string refused = client.read_head();
    CHECK(has(refused, "407 Proxy Authentication Required"));
    CHECK(has(refused, "Proxy-Authenticate: Bearer"));
    CHECK_FALSE(has(refused, "Connection: close"));
    client.read_exactly(std::stoul(refused.substr(refused.find("Content-Length: ") + 16)));
    client.send(get(server, "/", "Proxy-Authorization: Bearer secret\r\nOperation-Id: x\r\n"));
    Peer origin = server.accept();
    const std::string head = origin.read_head();
    CHECK_FALSE(has(head, "secret"));
    CHECK_FALSE(has(head, "Operation-Id"));
}

TEST_CASE("draining ends idle connections, lets a running exchange end and says so in its answer") {
    Plane plane;
    Server server;
    Peer idle = plane.client();
    Peer busy = plane.client();
    busy.send(get(server));
    Peer origin = server.accept();
    origin.read_head();
    CHECK_FALSE(plane.plane->drain(Millis{0}));
    CHECK(idle.read_to_end().empty());
    origin.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    CHECK(has(busy.read_head(), "Connection: close"));
    CHECK(busy.read_to_end() == "ok");
    CHECK(plane.plane->drain(Millis{10'000}));
}

}  // namespace opid::test
