// Guarded writes as far as the data plane goes: what reaches the engine, what the engine's answer becomes, and the
// client that sends to providers.
#include <boost/asio/co_spawn.hpp>
#include <future>

#include "core/http/fields.hpp"
#include "loopback.hpp"

namespace opid::test {

namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

ProfilePtr acme(const Server& server, MissingIdentity missing = MissingIdentity::reject) {
    auto profile = std::make_shared<Profile>();
    profile->provider = "acme";
    profile->hosts = {"api.acme.example"};
    profile->upstream_scheme = "http";
    profile->upstream_authority = "api.acme.example";
    profile->upstream_address = server.authority();
    profile->default_rule.name = "default";
    profile->default_rule.identity.from = {{IdentitySource::Kind::header, "Operation-Id"}};
    profile->default_rule.identity.missing = missing;
    return profile;
}

// What came to the engine, and a canned answer.
struct Engine {
    std::vector<GuardedWrite> writes;
    GuardedHandler handler() {
        return [this](GuardedWrite write, ResponseSink*) { return answer(std::move(write)); };
    }
    Task<GuardedAnswer> answer(GuardedWrite write) {
        writes.push_back(std::move(write));
        GuardedAnswer result;
        result.answer.status = 201;
        result.answer.fields = {{"Operation-Status", "succeeded"}};
        result.answer.body = std::make_shared<const std::string>("made");
        co_return result;
    }
};

OutboundRequest request_to(const ProfilePtr& profile, std::string_view body = "{}") {
    OutboundRequest request;
    request.profile = profile;
    request.method = "POST";
    request.target = "/things?x=1";
    request.fields = "Content-Type: application/json\r\nIdempotency-Key: k\r\n";
    request.body = body;
    request.response_timeout = Millis{5000};
    return request;
}

// Runs one send on the plane's own thread.
std::future<Exchange> start(Plane& plane, const OutboundRequest& request, ResponseSink* sink = nullptr) {
    auto promise = std::make_shared<std::promise<Exchange>>();
    std::future<Exchange> result = promise->get_future();
    boost::asio::co_spawn(
        plane.plane->context(0), plane.upstream->send(request, sink),
        [promise](const std::exception_ptr&, Exchange exchange) { promise->set_value(std::move(exchange)); });
    return result;
}

struct RecordingSink final : ResponseSink {
    bool wants(const InboundResponse&, bool event_stream, std::uint64_t length) override {
        return event_stream || length > 20;
    }
    Task<> head(const InboundResponse& head) override {
        seen += "head " + std::to_string(head.status) + ";";
        co_return;
    }
    Task<> data(std::string_view bytes) override {
        seen += std::string(bytes);
        co_return;
    }
    Task<> end() override {
        seen += ";end";
        co_return;
    }
    Task<> abort() override {
        seen += ";abort";
        co_return;
    }
    std::string seen;
};

}  // namespace

TEST_CASE("a write reaches the engine whole and named, and its answer goes back") {
    Server server;
    Engine engine;
    Plane plane({acme(server)}, engine.handler());
    Peer client = plane.client();
    client.send(
        "POST /acme/things?x=1 HTTP/1.1\r\nHost: localhost\r\nOperation-Id: op-1\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\nAuthorization: Bearer t\r\nOperation-Wait: 3\r\n\r\n2\r\n{\"\r\n");
    client.send("5\r\na\":1}\r\n0\r\n\r\n");
    const std::string head = client.read_head();
    CHECK(has(head, "HTTP/1.1 201 Created\r\n"));
    CHECK(has(head, "Operation-Status: succeeded\r\n"));
    CHECK(has(head, "Content-Length: 4\r\n"));
    CHECK(client.read_exactly(4) == "made");
    client.send(
        "POST http://api.acme.example/things?x=1 HTTP/1.1\r\nHost: x\r\nOperation-Id: op-1\r\nContent-Length: "
        "2\r\n\r\n{}");
    client.read_head();
    client.read_exactly(4);
    REQUIRE(engine.writes.size() == 2);
    const GuardedWrite& write = engine.writes[0];
    CHECK(write.tenant == "default");
    CHECK(write.id.value() == "op-1");
    CHECK_FALSE(write.native_key);
    CHECK(write.intent.method == "POST");
    CHECK(write.intent.scheme_authority == "http://api.acme.example");
    CHECK(write.intent.path == "/things");
    CHECK(write.intent.query == "?x=1");
    CHECK(write.intent.body == "{\"a\":1}");
    CHECK(write.chunked);
    CHECK(write.wait == Millis{3000});
    CHECK(
        write.fields ==
        "Content-Type: application/json\r\nAuthorization: Bearer t\r\nX-Forwarded-For: 127.0.0.1\r\nVia: 1.1 opid\r\n");
    CHECK(engine.writes[1].intent.scheme_authority == "http://api.acme.example");
    CHECK(engine.writes[1].intent.path == "/things");
    CHECK(plane.metrics().guarded.value() == 2);
    CHECK(server.nobody_waits());
}

TEST_CASE("bodies are asked for, spooled when large and refused when too large") {
    Server server;
    Engine engine;
    DataPlaneOptions options;
    options.limits.memory_body = 1000;
    options.limits.request_body = 100'000;
    options.spool_directory = "/tmp/opid-test-spool";
    Plane plane({acme(server)}, engine.handler(), options);
    Peer client = plane.client();
    const std::string body(90'000, 'b');
    client.send(
        "PUT /acme/x HTTP/1.1\r\nHost: localhost\r\nOperation-Id: o\r\nExpect: 100-continue\r\nContent-Length: "
        "90000\r\n\r\n");
    CHECK(client.read_head() == "HTTP/1.1 100 Continue\r\n\r\n");
    client.send(body);
    CHECK(has(client.read_head(), "201 Created"));
    client.read_exactly(4);
    REQUIRE(engine.writes.size() == 1);
    CHECK(engine.writes[0].intent.body == body);

    client.send(
        "PUT /acme/x HTTP/1.1\r\nHost: localhost\r\nOperation-Id: o\r\nExpect: 100-continue\r\nContent-Length: "
        "100001\r\n\r\n");
    const std::string head = client.read_head();
    CHECK(has(head, "413 Content Too Large"));
    CHECK(has(head, "Connection: close"));
    CHECK(engine.writes.size() == 1);
}

TEST_CASE("writes without an ID are refused, relayed or observed; reads are relayed") {
    Server server;
    Engine engine;
    {
        Plane plane({acme(server)}, engine.handler());
        Peer client = plane.client();
        client.send("POST /acme/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}");
        const std::string head = client.read_head();
        CHECK(has(head, "400 Bad Request"));
        CHECK(has(head, "Opid-Problem: operation-id-missing"));
        CHECK_FALSE(has(head, "Connection: close"));
        client.read_exactly(std::stoul(head.substr(head.find("Content-Length: ") + 16)));
        client.send("POST /acme/x HTTP/1.1\r\nHost: localhost\r\nOperation-Id: a b\r\nContent-Length: 0\r\n\r\n");
        CHECK(has(client.read_head(), "Opid-Problem: operation-id-invalid"));
        CHECK(server.nobody_waits());
        Peer reader = plane.client();
        reader.send("GET /acme/x HTTP/1.1\r\nHost: localhost\r\nOperation-Id: o\r\n\r\n");
        Peer origin = server.accept();
        CHECK(origin.read_head() ==
              "GET /x HTTP/1.1\r\nHost: api.acme.example\r\nX-Forwarded-For: 127.0.0.1\r\nVia: 1.1 opid\r\n\r\n");
        origin.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        CHECK(has(reader.read_head(), "200 OK"));
    }
    Plane plane({acme(server, MissingIdentity::pass)}, engine.handler());
    Peer client = plane.client();
    client.send("POST /acme/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}");
    Peer origin = server.accept();
    CHECK(has(origin.read_head(), "Content-Length: 2"));
    CHECK(origin.read_exactly(2) == "{}");
    origin.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    CHECK(has(client.read_head(), "200 OK"));
    CHECK(engine.writes.empty());
}

TEST_CASE("a step is given one ID for ever") {
    Server server;
    Engine engine;
    Plane plane({acme(server)}, engine.handler());
    Peer client = plane.client();
    for (const std::string step : {"run/1", "run/1", "run/2"}) {
        client.send("POST /acme/x HTTP/1.1\r\nHost: localhost\r\nOperation-Step: " + step +
                    "\r\nContent-Length: 0\r\n\r\n");
        client.read_head();
        client.read_exactly(4);
    }
    REQUIRE(engine.writes.size() == 3);
    CHECK(engine.writes[0].id == engine.writes[1].id);
    CHECK_FALSE(engine.writes[0].id == engine.writes[2].id);
}

TEST_CASE("an exchange is sent once, with its evidence") {
    Server server;
    Plane plane;
    const ProfilePtr profile = acme(server);
    const OutboundRequest request = request_to(profile);
    auto result = start(plane, request);
    Peer origin = server.accept();
    CHECK(origin.read_head() ==
          "POST /things?x=1 HTTP/1.1\r\nHost: api.acme.example\r\nContent-Type: application/json\r\n"
          "Idempotency-Key: k\r\nContent-Length: 2\r\n\r\n");
    CHECK(origin.read_exactly(2) == "{}");
    origin.send(
        "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 201 Created\r\nConnection: X-Hop\r\nX-Hop: 1\r\nLocation: /1\r\n"
        "Transfer-Encoding: chunked\r\n\r\n3\r\nyes\r\n0\r\n\r\n");
    Exchange exchange = result.get();
    CHECK(exchange.answered);
    CHECK(exchange.evidence.stage == Stage::answered);
    CHECK(exchange.evidence.interim == "103");
    CHECK(exchange.evidence.failure.empty());
    CHECK(exchange.evidence.http_status == 201);
    CHECK(exchange.response.body == "yes");
    CHECK(exchange.response.body_digest == sha256("yes"));
    CHECK(exchange.response.fields == StoredFields{{"Location", "/1"}});

    result = start(plane, request);  // at once: the connection is used again
    CHECK(has(origin.read_head(), "POST /things"));
    origin.read_exactly(2);
    origin.close();
    exchange = result.get();
    CHECK_FALSE(exchange.answered);
    CHECK(exchange.evidence.stage == Stage::body_written);
    CHECK(exchange.evidence.failure == "closed without an answer");
    CHECK(server.nobody_waits());
}

TEST_CASE("cut answers, resets, silence and refused connections are told apart") {
    Server server;
    Plane plane;
    const ProfilePtr profile = acme(server);
    OutboundRequest request = request_to(profile);
    {
        auto result = start(plane, request);
        Peer origin = server.accept();
        origin.read_head();
        origin.read_exactly(2);
        origin.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
        origin.close();
        const Exchange exchange = result.get();
        CHECK_FALSE(exchange.answered);
        CHECK(exchange.evidence.failure == "cut");
        CHECK(exchange.evidence.http_status == 200);
        CHECK(exchange.evidence.stage == Stage::first_byte);
    }
    {
        auto result = start(plane, request);
        Peer origin = server.accept();
        origin.read_head();
        origin.reset();
        const Exchange exchange = result.get();
        CHECK(exchange.evidence.failure == "reset");
        CHECK_FALSE(exchange.evidence.nothing_sent());
    }
    {
        request.response_timeout = Millis{50};
        auto result = start(plane, request);
        Peer origin = server.accept();
        CHECK(result.get().evidence.failure == "timeout");
    }
    server.stop();
    const Exchange exchange = start(plane, request).get();
    CHECK(exchange.evidence.failure == "connect refused");
    CHECK(exchange.evidence.nothing_sent());
}

TEST_CASE("an early answer is taken while the body is still going out") {
    Server server;
    Plane plane;
    const ProfilePtr profile = acme(server);
    const std::string body(16 * 1024 * 1024, 'x');
    const OutboundRequest request = request_to(profile, body);
    auto result = start(plane, request);
    Peer origin = server.accept();
    origin.read_head();
    origin.send("HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno");
    const Exchange exchange = result.get();
    CHECK(exchange.answered);
    CHECK(exchange.response.status == 401);
    CHECK(exchange.evidence.bytes_sent < body.size());
}

TEST_CASE("a large answer is counted and digested without being kept; a stream goes to the sink") {
    Server server;
    Plane plane;
    const ProfilePtr profile = acme(server);
    OutboundRequest request = request_to(profile);
    request.body_max = 4;
    auto result = start(plane, request);
    Peer origin = server.accept();
    origin.read_head();
    origin.read_exactly(2);
    origin.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345");
    Exchange exchange = result.get();
    CHECK(exchange.answered);
    CHECK_FALSE(exchange.response.body_kept);
    CHECK(exchange.response.body_size == 5);
    CHECK(exchange.response.body_digest == sha256("12345"));

    RecordingSink sink;
    result = start(plane, request, &sink);
    origin.read_head();
    origin.send(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nContent-Length: 9\r\n\r\ndata: 1\n\n");
    exchange = result.get();
    CHECK(exchange.answered);
    CHECK(sink.seen == "head 200;data: 1\n\n");  // its end is told by whoever makes the outcome durable

    RecordingSink late;  // grows past what is kept back, without having said so
    request.body_max = 1000;
    result = start(plane, request, &late);
    origin.read_head();
    origin.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n123456789012345\r\n");
    origin.send("a\r\n1234567890\r\n0\r\n\r\n");
    exchange = result.get();
    CHECK(exchange.answered);
    CHECK(late.seen == "head 200;1234567890123451234567890");
}

}  // namespace opid::test
