#include "loopback.hpp"

namespace opid::test {

namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string connect_to(const Server& server, std::string_view more = "") {
    return "CONNECT " + server.authority() + " HTTP/1.1\r\nHost: other\r\n" + std::string(more) + "\r\n";
}

constexpr std::string_view opened = "HTTP/1.1 200 Connection established\r\n\r\n";

std::string websocket(const Server& server, std::string_view more = "") {
    return "GET http://" + server.authority() + "/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, X-Custom\r\n" +
           "Upgrade: websocket\r\nX-Custom: 1\r\nSec-WebSocket-Key: abc\r\n" + std::string(more) + "\r\n";
}

}  // namespace

TEST_CASE("a tunnel carries bytes both ways, with what followed its head, and half-close") {
    Plane plane;
    Server server;
    Peer client = plane.client();
    client.send(connect_to(server, "Connection: close\r\nProxy-Authorization: Basic abc\r\n") + "early");
    Peer origin = server.accept();
    CHECK(client.read_head() == opened);
    CHECK(origin.read_exactly(5) == "early");
    client.send("to origin");
    CHECK(origin.read_exactly(9) == "to origin");
    origin.send("to client");
    CHECK(client.read_exactly(9) == "to client");
    client.finish();
    CHECK(origin.read_to_end().empty());
    origin.send("a late reply");
    origin.close();
    CHECK(client.read_to_end() == "a late reply");
}

TEST_CASE("a server that speaks first is heard, and HTTP/1.0 without Host may open a tunnel") {
    Plane plane;
    Server server;
    Peer client = plane.client();
    client.send("CONNECT " + server.authority() + " HTTP/1.0\r\n\r\n");
    Peer origin = server.accept();
    origin.send("220 ready\r\n");
    CHECK(client.read_head() == opened);
    CHECK(client.read_exactly(11) == "220 ready\r\n");
}

TEST_CASE("a reset in a tunnel is a reset at the other end, after what had come") {
    Plane plane;
    Server server;
    Peer client = plane.client();
    client.send(connect_to(server));
    Peer origin = server.accept();
    client.read_head();
    origin.send("last words");
    CHECK(client.read_exactly(10) == "last words");
    origin.reset();
    CHECK(client.read_to_end().empty());
    CHECK(client.was_reset());
}

TEST_CASE("bulk in both directions arrives whole and pauses with its reader") {
    Plane plane;
    Server server;
    Peer client = plane.client();
    client.send(connect_to(server));
    Peer origin = server.accept();
    client.read_head();
    std::string block(256 * 1024, '\0');
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<char>(i * 31 % 251);
    for (int i = 0; i < 16; ++i) {
        client.send(block);
        CHECK(origin.read_exactly(block.size()) == block);
        origin.send(block);
        CHECK(client.read_exactly(block.size()) == block);
    }
    client.close();
    CHECK(origin.read_to_end().empty());
}

TEST_CASE("tunnels that can't be or may not be are refused before any 200") {
    Plane plane;
    std::uint16_t closed = 0;
    {
        const Server gone;
        closed = gone.port;
    }
    Peer client = plane.client();
    client.send("CONNECT 127.0.0.1:" + std::to_string(closed) + " HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(has(client.read_head(), "502 Bad Gateway"));
    for (const std::string& target :
         {std::string("10.0.0.1:443"), std::string("127.0.0.1:25"), "0x7f000001:" + std::to_string(closed)}) {
        CAPTURE(target);
        Peer other = plane.client();
        other.send("CONNECT " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
        const std::string head = other.read_head();
        CHECK((has(head, "403 Forbidden") || has(head, "502 Bad Gateway")));
    }
    Peer self = plane.client();
    self.send("CONNECT localhost:" + std::to_string(plane.port) + " HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(has(self.read_head(), "508 Loop Detected"));
    for (const std::string target : {"example.com", "example.com:0", "example.com:65536", "u@example.com:443"}) {
        CAPTURE(target);
        Peer other = plane.client();
        other.send("CONNECT " + target + " HTTP/1.1\r\nHost: x\r\n\r\n");
        CHECK(has(other.read_head(), "400 Bad Request"));
    }
}

TEST_CASE("a host with a profile is not tunnelled past its rules") {
    auto profile = std::make_shared<Profile>();
    profile->provider = "acme";
    profile->hosts = {"api.acme.example"};
    profile->upstream_scheme = "https";
    profile->upstream_authority = "api.acme.example";
    Plane plane({profile});
    Peer client = plane.client();
    client.send("CONNECT api.acme.example:443 HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(has(client.read_head(), "501 Not Implemented"));
    CHECK(has(client.read_to_end(), "/acme/"));
}

TEST_CASE("a websocket is switched to with the bytes that came along, and is raw from then on") {
    Plane plane;
    Server server;
    Peer client = plane.client();
    client.send(websocket(server) + "frame0");
    Peer origin = server.accept();
    const std::string head = origin.read_head();
    CHECK(has(head, "Upgrade: websocket\r\n"));
    CHECK(has(head, "Connection: Upgrade\r\n"));
    CHECK_FALSE(has(head, "X-Custom"));
    origin.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: z\r\n\r\nframe1");
    const std::string answer = client.read_head();
    CHECK(has(answer, "101 Switching Protocols"));
    CHECK(has(answer, "Connection: Upgrade"));
    CHECK(client.read_exactly(6) == "frame1");
    CHECK(origin.read_exactly(6) == "frame0");
    client.send("\x81\x02hi");
    CHECK(origin.read_exactly(4) == "\x81\x02hi");
    origin.close();
    CHECK(client.read_to_end().empty());
}

TEST_CASE("an upgrade may be answered as usual, and no origin may switch unasked") {
    Plane plane;
    Server server;
    Peer client = plane.client();
    client.send(websocket(server));
    Peer origin = server.accept();
    origin.read_head();
    origin.send("HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\n\r\n");
    CHECK(has(client.read_head(), "426 Upgrade Required"));
    client.send("GET http://" + server.authority() +
                "/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
    CHECK_FALSE(has(origin.read_head(), "h2c"));
    origin.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n");
    CHECK(has(client.read_head(), "502 Bad Gateway"));
}

}  // namespace opid::test
