// The parts of the data plane that need no socket.
#include <filesystem>

#include "adapters/http/body_spool.hpp"
#include "adapters/http/guarded_request.hpp"
#include "adapters/http/local_answer.hpp"
#include "adapters/http/routing.hpp"
#include "adapters/http/tenant_gate.hpp"
#include "base/encoding.hpp"
#include "loopback.hpp"

namespace opid::test {

namespace {

// A parsed head with its text.
struct Head {
    explicit Head(std::string request) : text(std::move(request)) {
        const auto parse = http::parse_request_head(text, {}, head);
        REQUIRE(parse.outcome == http::ParseOutcome::complete);
    }
    std::string text;
    http::RequestHead head;
};

std::shared_ptr<Profile> acme() {
    auto profile = std::make_shared<Profile>();
    profile->provider = "acme";
    profile->hosts = {"api.acme.example", "files.acme.example"};
    profile->upstream_scheme = "https";
    profile->upstream_authority = "api.acme.example";
    profile->upstream_base_path = "/v1";
    return profile;
}

Route routed(const std::string& request, const std::string& provider = {}) {
    static const ProfileSet profiles({acme()});
    const Head head(request);
    return route(head.head, Listening{provider}, profiles);
}

}  // namespace

TEST_CASE("a spooled body is one view, in memory or on disk, and gives its budget back") {
    const std::string directory = std::filesystem::temp_directory_path().string();
    BodyBudget budget(1000);
    BodyBudget disk_budget(1000);
    for (const bool disk : {false, true}) {
        BodySpool spool(budget, disk_budget, directory, disk ? 10 : 100, 100);
        CHECK(spool.append("0123456"));
        CHECK(spool.append("789abcdef"));
        const Result<std::string_view> whole = spool.finish();
        REQUIRE(whole);
        CHECK(*whole == "0123456789abcdef");
        CHECK(spool.on_disk() == disk);
    }
    {
        BodySpool spool(budget, disk_budget, directory, 10, 20);
        CHECK(spool.append(std::string(20, 'x')));
        CHECK(spool.append("y").error().kind() == ErrorKind::invalid);
        BodySpool more(budget, disk_budget, directory, 10, 2000);
        CHECK(more.append(std::string(981, 'x')).error().kind() == ErrorKind::overloaded);
        BodySpool other(budget, disk_budget, directory, 2000, 2000);
        CHECK(other.append(std::string(1000, 'x')));
        CHECK(other.append("y").error().kind() == ErrorKind::overloaded);
    }
    BodySpool all(budget, disk_budget, directory, 2000, 2000);
    CHECK(all.append(std::string(1000, 'x')));
    BodySpool nowhere(budget, disk_budget, "/nonexistent/opid", 0, 10);
    CHECK_FALSE(nowhere.append("x"));
}

TEST_CASE("tenants are known by their tokens; none are configured: loopback callers only") {
    const TenantGate open({});
    const Head plain("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    const Head named("GET / HTTP/1.1\r\nHost: a\r\nOperation-Tenant: blue\r\n\r\n");
    CHECK(open.identify(plain.head.fields, true) == "default");
    CHECK(open.identify(named.head.fields, true) == "blue");
    CHECK_FALSE(open.identify(plain.head.fields, false));

    const TenantGate gate({{"a", {sha256("one"), sha256("two")}}, {"b", {sha256("three")}}});
    const auto with = [&gate](const std::string& value) {
        const Head head("GET / HTTP/1.1\r\nHost: a\r\nOperation-Tenant: b\r\nProxy-Authorization: " + value +
                        "\r\n\r\n");
        return gate.identify(head.head.fields, true);
    };
    CHECK(with("Bearer two") == "a");
    CHECK(with("bearer three") == "b");
    CHECK(with("Basic " + base64("a:one")) == "a");
    CHECK_FALSE(with("Basic " + base64("b:one")));
    CHECK_FALSE(with("Basic !"));
    CHECK_FALSE(with("Bearer four"));
    CHECK_FALSE(with("Bearer"));
    CHECK(with("Bearer two\r\nProxy-Authorization: Bearer two") == "a");
    CHECK_FALSE(with("Bearer two\r\nProxy-Authorization: Bearer three"));
    CHECK_FALSE(gate.identify(plain.head.fields, true));
}

TEST_CASE("requests find their way by form, path, host and port") {
    using Kind = Route::Kind;
    const std::string end = " HTTP/1.1\r\nHost: localhost:8080\r\n\r\n";
    Route to = routed("GET http://example.com/a?b" + end);
    CHECK(to.kind == Kind::pass_through);
    CHECK(to.origin.host == "example.com");
    to = routed("GET https://API.acme.example/a" + end);
    CHECK(to.kind == Kind::profile);
    CHECK_FALSE(to.reverse);
    CHECK(to.origin.tls);
    CHECK(to.target == "/a");
    to = routed("POST /acme/refunds?x=1" + end);
    CHECK(to.kind == Kind::profile);
    CHECK(to.reverse);
    CHECK(to.target == "/v1/refunds?x=1");
    CHECK(to.authority == "api.acme.example");
    CHECK(routed("POST /acme" + end).target == "/v1/");
    CHECK(routed("POST /acme?x" + end).target == "/v1/?x");
    to = routed("POST /refunds HTTP/1.1\r\nHost: files.acme.example\r\n\r\n");
    CHECK(to.kind == Kind::profile);
    CHECK(to.target == "/refunds");
    CHECK(to.authority == "files.acme.example");
    CHECK(to.origin.port == 443);
    to = routed("POST /refunds" + end, "acme");
    CHECK(to.kind == Kind::profile);
    CHECK(to.target == "/v1/refunds");
    CHECK(routed("POST http://files.acme.example:443/refunds" + end, "acme").target == "/v1/refunds");
    CHECK(routed("POST http://127.0.0.1:8411/refunds" + end, "acme").target == "/v1/refunds");
    CHECK(routed("POST http://example.com/refunds" + end, "acme").problem.kind == ProblemKind::misdirected);
    CHECK(routed("POST http://10.0.0.1/refunds" + end, "acme").problem.kind == ProblemKind::misdirected);
    CHECK(routed("POST /other/x" + end).problem.kind == ProblemKind::unknown_provider);
    CHECK(routed("GET /" + end).problem.kind == ProblemKind::unknown_provider);
    CHECK(routed("CONNECT example.com:443" + end).kind == Kind::tunnel);
    CHECK(plan_tunnel(routed("CONNECT api.acme.example:443" + end).origin) == TunnelPlan::intercept);
    CHECK(routed("OPTIONS *" + end).kind == Kind::local);
    CHECK(routed("TRACE /x HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0\r\n\r\n").kind == Kind::local);
}

TEST_CASE("the operation is named by the first source that is present") {
    Rule rule;
    rule.identity.from = {{IdentitySource::Kind::header, "Operation-Id"},
                          {IdentitySource::Kind::header, "Idempotency-Key"},
                          {IdentitySource::Kind::query, "key"},
                          {IdentitySource::Kind::body, "/id"}};
    const auto find = [&rule](const std::string& lines, std::string_view target, std::optional<std::string_view> body) {
        static std::optional<Head> head;
        head.emplace("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" + lines + "\r\n");
        return find_identity(rule, head->head.fields, target, body);
    };
    auto found = find("Operation-Id: one\r\nIdempotency-Key: two\r\n", "/?key=three", std::nullopt);
    REQUIRE(found);
    CHECK(found->id->value() == "one");
    CHECK_FALSE(found->native_key);
    found = find("Idempotency-Key: \"two\"\r\n", "/?key=three", std::nullopt);
    CHECK(found->id->value() == "two");
    CHECK(found->native_key);
    found = find("", "/?key=three", std::nullopt);
    CHECK(found->id->value() == "three");
    found = find("", "/", std::nullopt);
    CHECK(found->body_undecided);
    found = find("", "/", "{\"id\": \"four\"}");
    CHECK(found->id->value() == "four");
    found = find("Operation-Step: run/1\r\n", "/", "{}");
    CHECK_FALSE(found->id);
    CHECK(found->step->value() == "run/1");
    CHECK_FALSE(find("Operation-Id: a\r\nOperation-Id: b\r\n", "/", std::nullopt));
    CHECK_FALSE(find("Operation-Id:\r\n", "/", std::nullopt));
    CHECK_FALSE(find("", "/?key=", std::nullopt));
}

TEST_CASE("a name in the body is found under any label, and what can't be read is no missing name") {
    Rule rule;
    rule.identity.from = {{IdentitySource::Kind::body, "/id"}};
    const auto find = [&rule](const std::string& type, std::string_view body) -> std::string {
        const Head head("POST / HTTP/1.1\r\nHost: a\r\n" + type + "\r\n");
        const auto found = find_identity(rule, head.head.fields, "/", body);
        if (!found) return "refused";
        return found->id ? found->id->value() : "none";
    };
    const std::string json = "Content-Type: application/json\r\n";
    const std::string form = "Content-Type: application/x-www-form-urlencoded\r\n";
    const std::string text = "Content-Type: text/plain\r\n";
    for (const std::string& type : {json, form, text, std::string()}) {
        CHECK(find(type, " {\"id\":\"x\"}") == "x");
        CHECK(find(type, "") == "none");
        CHECK(find(type, "{\"id\":null}") == "none");
        CHECK(find(type, "{\"a\":1}") == "none");
    }
    CHECK(find(json, "{\"id\":7}") == "7");
    CHECK(find(json, "{\"id\":\"x\",\"id\":\"x\"}") == "refused");
    CHECK(find(json, "\xef\xbb\xbf{\"id\":\"x\"}") == "x");
    CHECK(find(text, "\xef\xbb\xbf{\"id\":\"x\"}") == "x");
    CHECK(find(json, "{\"id\":\"x\",}") == "refused");
    CHECK(find(json, "{\"id\":\"\"}") == "refused");
    CHECK(find(json, "{\"id\":true}") == "refused");
    CHECK(find(json, "id=x") == "refused");
    CHECK(find(text, "{\"id\":\"x\",\"id\":\"x\"}") == "refused");
    CHECK(find(text, "{{name}}, hello") == "none");
    CHECK(find("Content-Type: application/x-ndjson\r\n", "{\"id\":\"x\"}\n{\"id\":\"y\"}\n") == "none");
    CHECK(find(form, "id=x") == "x");
    CHECK(find(form, "a=1") == "none");
    CHECK(find(form, "id=x&id=y") == "refused");
    CHECK(find(form, "id=") == "refused");
    CHECK(find(text, "id=x") == "none");
    const std::string parts = "Content-Type: multipart/form-data; boundary=x\r\n";
    const auto part = [](const std::string& name, const std::string& value) {
        return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
    };
    CHECK(find(parts, part("a", "1") + part("id", "x") + "--x--\r\n") == "x");
    CHECK(find(parts, part("a", "1") + "--x--\r\n") == "none");
    CHECK(find(parts, part("id\"; filename=\"id.txt", "x") + "--x--\r\n") == "none");
    CHECK(find(parts, part("id", "x") + part("id", "y") + "--x--\r\n") == "refused");
    CHECK(find(parts, part("id", "") + "--x--\r\n") == "refused");
    CHECK(find(parts, part("id", "x")) == "refused");
}

TEST_CASE("the content of a body is what its coding hides, or the reason why it can't be seen") {
    const auto content = [](const std::string& coding, std::string_view body, std::size_t most) -> std::string {
        const Head head("POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: " + coding + "\r\n\r\n");
        std::string room;
        const Result<std::string_view> found = content_of(head.head.fields, body, most, room);
        return found ? std::string(*found) : found.error().what();
    };
    CHECK(content("identity", "abc", 1) == "abc");
    CHECK(content("gzip", "", 1) == "");
    CHECK(content("gzip", "no gzip", 100) == "its content coding can't be undone");
    CHECK(content("zstd", "abc", 100) == "its content coding can't be undone");
    const std::string_view packed(
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\x4c\x4a\x06\x00\xc2\x41\x24\x35\x03\x00\x00\x00", 23);
    CHECK(content("gzip", packed, 3) == "abc");
    CHECK(content("gzip", packed, 2) == "it decodes to more than limits.decoded_body");
}

TEST_CASE("fields travel on without what belongs to the hop, to opid or to framing") {
    const Head head(
        "POST / HTTP/1.1\r\nHost: a\r\nAccept: */*\r\nConnection: X-Hop, Accept\r\nX-Hop: 1\r\nTE: trailers\r\n"
        "Operation-Id: o\r\nProxy-Authorization: Basic x\r\nAuthorization: Bearer mine\r\nContent-Length: 0\r\n"
        "Expect: 100-continue\r\nX-Forwarded-For: 9.9.9.9\r\nContent-Type: text/plain\r\n\r\n");
    ForwardedFields options;
    options.via = "opid";
    CHECK(forwarded_fields(head.head, options) ==
          "Accept: */*\r\nAuthorization: Bearer mine\r\nX-Forwarded-For: 9.9.9.9\r\n"
          "Content-Type: text/plain\r\nVia: 1.1 opid\r\n");
    ProviderCredentials credentials;
    credentials.value = Secret("Bearer ours");
    credentials.inject = true;
    options.credentials = &credentials;
    options.forwarded_for = "10.0.0.9";
    options.via = {};
    CHECK(forwarded_fields(head.head, options) ==
          "Accept: */*\r\nContent-Type: text/plain\r\nAuthorization: Bearer ours\r\n"
          "X-Forwarded-For: 10.0.0.9\r\n");
}

TEST_CASE("answers of opid's own have a length, a date and no body for HEAD") {
    const Problem problem = make_problem(ProblemKind::not_allowed, "No.");
    AnswerFraming framing;
    framing.date = "now";
    framing.close = true;
    framing.head_only = true;
    std::string out;
    write_answer(render(problem, ProblemDialect::problem, {}), framing, out);
    CHECK(out.find("HTTP/1.1 403 Forbidden\r\n") == 0);
    CHECK(out.find("Date: now\r\n") != std::string::npos);
    CHECK(out.find("Content-Length: ") != std::string::npos);
    CHECK(out.substr(out.size() - 4) == "\r\n\r\n");
    CHECK(out.find("Connection: close\r\n") != std::string::npos);
}

TEST_CASE("waits are whole seconds") {
    const auto wait = [](const std::string& value) {
        const Head head("GET / HTTP/1.1\r\nHost: a\r\nOperation-Wait: " + value + "\r\n\r\n");
        return requested_wait(head.head.fields);
    };
    CHECK(wait("5") == Millis{5000});
    CHECK_FALSE(wait("5s"));
    CHECK_FALSE(wait("-1"));
    CHECK_FALSE(wait("99999999999"));
}

}  // namespace opid::test
