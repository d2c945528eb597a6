// What a tunnel to a profile's host turns into, decided from its first bytes; and where requests inside it go.
#include "adapters/http/interception.hpp"
#include "loopback.hpp"

namespace opid::test {

namespace {

using Kind = EntryPlan::Kind;

http::Authority place(std::string_view text) { return *http::parse_authority(text); }

FirstBytes hello(std::string_view name, std::vector<std::string> alpn) {
    FirstBytes first;
    first.kind = FirstBytes::Kind::tls;
    first.hello.server_name_given = !name.empty();
    first.hello.server_name = std::string(name);
    first.hello.alpn_given = !alpn.empty();
    first.hello.alpn = std::move(alpn);
    return first;
}

FirstBytes of_kind(FirstBytes::Kind kind) {
    FirstBytes first;
    first.kind = kind;
    return first;
}

std::string told(std::string_view bytes) {
    const auto first = tell_first_bytes(bytes);
    if (!first) return "more";
    switch (first->kind) {
        case FirstBytes::Kind::tls: return "tls";
        case FirstBytes::Kind::broken: return "broken";
        case FirstBytes::Kind::http: return "http";
        case FirstBytes::Kind::foreign: return "foreign";
        case FirstBytes::Kind::silent: return "silent";
        case FirstBytes::Kind::gone: return "gone";
    }
    return "";
}

Route inside(const std::string& request, bool tls = true, std::string_view opened_to = "api.acme.example:443") {
    auto acme = std::make_shared<Profile>();
    acme->provider = "acme";
    acme->hosts = {"api.acme.example"};
    static std::unique_ptr<ProfileSet> profiles;
    profiles = std::make_unique<ProfileSet>(std::vector<ProfilePtr>{acme});
    http::RequestHead head;
    const auto parse = http::parse_request_head(request, {}, head);
    REQUIRE(parse.outcome == http::ParseOutcome::complete);
    return route_inside(head, Inside{tls, place(opened_to)}, *profiles);
}

}  // namespace

TEST_CASE("first bytes are told apart from the first that decides, and a prefix of a request is not yet one") {
    CHECK(told("") == "more");
    CHECK(told("\x16") == "more");
    CHECK(told("P") == "more");
    CHECK(told("POST") == "more");
    CHECK(told("POST ") == "more");
    CHECK(told("POST /") == "http");
    CHECK(told("GET http://a/ HTTP/1.1") == "http");
    CHECK(told("OPTIONS * HTTP/1.1") == "http");
    CHECK(told("M-SEARCH") == "foreign");
    CHECK(told("SSH-2.0-OpenSSH") == "foreign");
    CHECK(told("GO /") == "foreign");
    CHECK(told("post / HTTP/1.1") == "foreign");
    CHECK(told("EHLO mail") == "foreign");
    CHECK(told(std::string(21, 'A')) == "foreign");
    CHECK(told(std::string(1, '\0')) == "foreign");
}

TEST_CASE("a tunnel is intercepted where name and protocol fit, and else relayed unseen or refused with its alert") {
    const http::Authority acme = place("api.acme.example:443");
    const auto plan = [&acme](const FirstBytes& first, H2Only h2_only = H2Only::blind) {
        return plan_entry(first, acme, h2_only);
    };
    CHECK(plan(hello("api.acme.example", {})).kind == Kind::intercept);
    CHECK(plan(hello("API.Acme.Example.", {"http/1.1"})).kind == Kind::intercept);
    CHECK(plan(hello("api.acme.example", {"h2", "http/1.1"})).kind == Kind::intercept);
    CHECK(plan(hello("", {"http/1.1"})).kind == Kind::intercept);

    EntryPlan refused = plan(hello("other.acme.example", {"http/1.1"}));
    CHECK(refused.kind == Kind::refuse);
    CHECK(refused.alert == 112);
    CHECK(plan(hello("user@api.acme.example", {})).kind == Kind::refuse);
    CHECK(plan(hello("192.0.2.1", {})).kind == Kind::refuse);

    const FirstBytes h2 = hello("api.acme.example", {"h2"});
    CHECK(plan(h2).kind == Kind::blind);
    CHECK(plan(hello("other.acme.example", {"h2"})).kind == Kind::refuse);  // the name comes first
    refused = plan(h2, H2Only::refuse);
    CHECK(refused.kind == Kind::refuse);
    CHECK(refused.alert == 120);

    CHECK(plan(of_kind(FirstBytes::Kind::http)).kind == Kind::read_clear);
    CHECK(plan(of_kind(FirstBytes::Kind::foreign)).kind == Kind::blind);
    CHECK(plan(of_kind(FirstBytes::Kind::silent)).kind == Kind::blind);
    CHECK(plan(of_kind(FirstBytes::Kind::gone)).kind == Kind::refuse);
    refused = plan(of_kind(FirstBytes::Kind::broken));
    CHECK(refused.kind == Kind::refuse);
    CHECK(refused.alert == 50);
}

TEST_CASE("an address stands for itself, with or without a server name") {
    const http::Authority address = place("192.0.2.1:443");
    CHECK(plan_entry(hello("", {}), address, H2Only::blind).kind == Kind::intercept);
    CHECK(plan_entry(hello("192.0.2.1", {}), address, H2Only::blind).kind == Kind::intercept);
    CHECK(plan_entry(hello("api.acme.example", {}), address, H2Only::blind).kind == Kind::refuse);
}

TEST_CASE("a request inside a tunnel goes where the tunnel was opened to, and names no other place") {
    using Where = Route::Kind;
    Route to = inside("POST /v1/refunds?a=1 HTTP/1.1\r\nHost: API.acme.example\r\n\r\n");
    CHECK(to.kind == Where::profile);
    CHECK_FALSE(to.reverse);
    CHECK(to.origin.tls);
    CHECK(to.origin.host == "api.acme.example");
    CHECK(to.origin.port == 443);
    CHECK(to.authority == "api.acme.example");
    CHECK(to.target == "/v1/refunds?a=1");
    CHECK(inside("GET / HTTP/1.1\r\nHost: api.acme.example:443\r\n\r\n").kind == Where::profile);
    CHECK(inside("GET / HTTP/1.0\r\n\r\n").kind == Where::profile);
    CHECK(inside("GET https://api.acme.example/a HTTP/1.1\r\nHost: x\r\n\r\n").kind == Where::profile);
    CHECK(inside("OPTIONS * HTTP/1.1\r\nHost: api.acme.example\r\n\r\n").kind == Where::local);

    const auto misdirected = [](const std::string& request) {
        const Route refused = inside(request);
        return refused.kind == Where::refuse && refused.problem.kind == ProblemKind::misdirected;
    };
    CHECK(misdirected("GET / HTTP/1.1\r\nHost: other.example\r\n\r\n"));
    CHECK(misdirected("GET / HTTP/1.1\r\nHost: api.acme.example:8443\r\n\r\n"));
    CHECK(misdirected("GET http://api.acme.example/ HTTP/1.1\r\nHost: api.acme.example\r\n\r\n"));
    CHECK(misdirected("GET https://other.example/ HTTP/1.1\r\nHost: api.acme.example\r\n\r\n"));
    CHECK(inside("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n").problem.kind == ProblemKind::bad_request);

    to = inside("GET /a HTTP/1.1\r\nHost: api.acme.example\r\n\r\n", false, "api.acme.example:80");
    CHECK(to.kind == Where::profile);
    CHECK_FALSE(to.origin.tls);
    CHECK(to.origin.port == 80);
    // A profile that a reload took away: from then on the requests are passed through.
    CHECK(inside("GET /a HTTP/1.1\r\nHost: b.example\r\n\r\n", true, "b.example:443").kind == Where::pass_through);
    CHECK(inside("POST /echo/1 HTTP/1.1\r\nHost: doctor.opid.invalid\r\n\r\n", true, "doctor.opid.invalid:443").kind ==
          Where::echo);
}

}  // namespace opid::test
