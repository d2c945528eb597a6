#include "adapters/tls/interceptor.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "adapters/tls/certificates.hpp"
#include "core/tls/client_hello.hpp"
#include "tls_peer.hpp"

using namespace opid;
using namespace opid::test;
using Catch::Contains;

namespace {

struct Bench {
    explicit Bench(std::size_t certificates_max = 1024) {
        auto made = CertificateAuthority::open_or_create(folder.path, noon);
        REQUIRE(made);
        authority = *made;
        auto interceptor_made = Interceptor::make(authority, {certificates_max, [this] { return now; }});
        REQUIRE(interceptor_made);
        interceptor = std::move(*interceptor_made);
    }
    SslPtr session(const std::string& host, bool is_ip = false) {
        auto made = interceptor->session_for(host, is_ip);
        INFO((made ? "" : made.error().what()));
        REQUIRE(made);
        return std::move(*made);
    }
    Client client(const std::string& host, bool is_ip = false) const {
        Client wanted;
        wanted.trusted = authority->pem();
        wanted.host = host;
        wanted.is_ip = is_ip;
        wanted.now = now;
        return wanted;
    }
    CertificatePtr leaf(const std::string& host) { return meet(client(host), session(host).get()).leaf; }

    Folder folder;
    Instant now = noon;
    std::shared_ptr<const CertificateAuthority> authority;
    std::unique_ptr<Interceptor> interceptor;
};

std::string serial_of(const CertificatePtr& certificate) {
    REQUIRE(certificate);
    const ASN1_INTEGER* const serial = X509_get0_serialNumber(certificate.get());
    return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(serial)),
            static_cast<std::size_t>(ASN1_STRING_length(serial))};
}

constexpr int both_versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};

}  // namespace

TEST_CASE("a strict client accepts the session under the right name alone") {
    Bench bench;
    struct Row {
        std::string served;
        bool served_ip;
        std::string wanted;
        bool wanted_ip;
        const char* error;  // empty: fine
    };
    const std::string long_name = std::string(60, 'a') + "." + std::string(60, 'b') + ".test";
    const Row rows[] = {
        {"a.test", false, "a.test", false, ""},
        {"a.test", false, "A.TEST", false, ""},
        {"a.test", false, "b.test", false, "certificate verify failed"},
        {"a.test", false, "x.a.test", false, "certificate verify failed"},
        {long_name, false, long_name, false, ""},
        {"192.0.2.1", true, "192.0.2.1", true, ""},
        {"192.0.2.1", true, "192.0.2.2", true, "certificate verify failed"},
        {"2001:db8::1", true, "2001:db8::1", true, ""},
        {"192.0.2.1", true, "a.test", false, "certificate verify failed"},
        {"a.test", false, "192.0.2.1", true, "certificate verify failed"},
    };
    for (const Row& row : rows) {
        for (const int version : both_versions) {
            CAPTURE(row.served, row.wanted, version);
            Client client = bench.client(row.wanted, row.wanted_ip);
            client.max_version = version;
            const Meeting meeting = meet(client, bench.session(row.served, row.served_ip).get());
            CHECK(meeting.error == row.error);
            CHECK(meeting.done == std::string(row.error).empty());
        }
    }
    Client stranger = bench.client("a.test");
    stranger.trusted.clear();
    CHECK(meet(stranger, bench.session("a.test").get()).error == "certificate verify failed");
}

TEST_CASE("TLS 1.2 and 1.3, and none below") {
    Bench bench;
    struct Row {
        int version;
        const char* spoken;
    };
    for (const Row& row : {Row{TLS1_VERSION, ""}, Row{TLS1_1_VERSION, ""}, Row{TLS1_2_VERSION, "TLSv1.2"},
                           Row{TLS1_3_VERSION, "TLSv1.3"}}) {
        CAPTURE(row.version);
        Client client = bench.client("a.test");
        client.max_version = row.version;
        const Meeting meeting = meet(client, bench.session("a.test").get());
        CHECK(meeting.version == row.spoken);
        CHECK(meeting.done == (row.version >= TLS1_2_VERSION));
        if (!meeting.done) CHECK(meeting.error == "unsupported protocol");
    }
}

TEST_CASE("ALPN answers http/1.1 or nothing") {
    Bench bench;
    struct Row {
        std::vector<std::string> offered;
        const char* chosen;
    };
    const Row rows[] = {
        {{"h2", "http/1.1"}, "http/1.1"},
        {{"http/1.1"}, "http/1.1"},
        {{"http/1.1", "h2"}, "http/1.1"},
        {{}, ""},
        {{"h2"}, ""},
        {{"http/1.0", "http/1"}, ""},
        {{"HTTP/1.1"}, ""},
        {{"x", "http/1.1"}, "http/1.1"},
    };
    for (const Row& row : rows) {
        for (const int version : both_versions) {
            CAPTURE(row.offered, version);
            Client client = bench.client("a.test");
            client.alpn = row.offered;
            client.max_version = version;
            const Meeting meeting = meet(client, bench.session("a.test").get());
            CHECK(meeting.done);
            CHECK(meeting.alpn == row.chosen);
        }
    }
}

TEST_CASE("resumption for the same host under the same authority only") {
    for (const int version : both_versions) {
        CAPTURE(version);
        Bench bench;
        Client client = bench.client("a.test");
        client.max_version = version;
        const Meeting first = meet(client, bench.session("a.test").get());
        REQUIRE(first.done);
        CHECK_FALSE(first.resumed);
        REQUIRE(first.session);
        CHECK(SSL_SESSION_get_max_early_data(first.session.get()) == 0);
        client.resume = first.session;

        const Meeting again = meet(client, bench.session("a.test").get());
        CHECK(again.done);
        CHECK(again.resumed);

        SECTION("another host, whatever the client says of it") {
            const Meeting elsewhere = meet(client, bench.session("b.test").get());
            CHECK_FALSE(elsewhere.resumed);
            CHECK(elsewhere.error == "certificate verify failed");
            client.host = "b.test";
            const Meeting honest = meet(client, bench.session("b.test").get());
            CHECK(honest.done);
            CHECK_FALSE(honest.resumed);
        }
        SECTION("another authority") {
            const auto rotated = CertificateAuthority::rotate(bench.folder.path, noon);
            REQUIRE(rotated);
            bench.interceptor->replace_authority(*rotated);
            CHECK(bench.interceptor->authority()->fingerprint() == (*rotated)->fingerprint());
            CHECK(bench.interceptor->counts().kept == 0);
            CHECK(meet(client, bench.session("a.test").get()).error == "certificate verify failed");
            client.trusted = (*rotated)->pem();
            const Meeting full = meet(client, bench.session("a.test").get());
            CHECK(full.done);
            CHECK_FALSE(full.resumed);
        }
    }
}

TEST_CASE("a session from before a change of authority runs on") {
    Bench bench;
    const SslPtr session = bench.session("a.test");
    bench.interceptor->replace_authority(*CertificateAuthority::rotate(bench.folder.path, noon));
    CHECK(meet(bench.client("a.test"), session.get()).done);
}

TEST_CASE("one mint however many ask at once") {
    Bench bench;
    std::vector<SslPtr> sessions(64);
    std::vector<std::thread> threads;
    for (SslPtr& mine : sessions) {
        threads.emplace_back([&mine, &bench] {
            auto made = bench.interceptor->session_for("new.test", false);
            if (made) mine = std::move(*made);
        });
    }
    for (std::thread& thread : threads) thread.join();
    std::set<X509*> leaves;
    for (const SslPtr& session : sessions) {
        REQUIRE(session);
        leaves.insert(SSL_get_certificate(session.get()));
    }
    CHECK(leaves.size() == 1);
    const InterceptorCounts counts = bench.interceptor->counts();
    CHECK(counts.minted == 1);
    CHECK(counts.from_cache == 63);
    CHECK(counts.kept == 1);
}

TEST_CASE("the cache is bounded; the least recently used goes first") {
    Bench bench(3);
    for (const char* host : {"a.test", "b.test", "c.test", "a.test", "d.test"}) bench.session(host);  // b goes
    InterceptorCounts counts = bench.interceptor->counts();
    CHECK(counts.minted == 4);
    CHECK(counts.from_cache == 1);
    CHECK(counts.evicted == 1);
    CHECK(counts.kept == 3);
    for (const char* host : {"a.test", "c.test", "d.test"}) bench.session(host);
    CHECK(bench.interceptor->counts().minted == 4);
    bench.session("b.test");
    CHECK(bench.interceptor->counts().minted == 5);
    for (int number = 0; number < 200; ++number) bench.session("n" + std::to_string(number) + ".test");
    counts = bench.interceptor->counts();
    CHECK(counts.kept == 3);
    CHECK(counts.evicted == 202);

    Bench none(0);
    none.session("a.test");
    none.session("a.test");
    CHECK(none.interceptor->counts().minted == 2);
    CHECK(none.interceptor->counts().kept == 0);
}

TEST_CASE("a leaf is minted anew before its end and after the clock went back") {
    Bench bench;
    const CertificatePtr first = bench.leaf("a.test");
    const Instant renewal = validity_of(first).not_after - 7 * one_day;
    bench.now = renewal - Millis(1);
    CHECK(serial_of(bench.leaf("a.test")) == serial_of(first));
    bench.now = renewal;
    const CertificatePtr second = bench.leaf("a.test");
    CHECK(serial_of(second) != serial_of(first));
    CHECK(bench.interceptor->counts().kept == 1);
    CHECK(bench.interceptor->counts().evicted == 0);

    bench.now = noon;  // three weeks back: the second is not valid yet
    const CertificatePtr third = bench.leaf("a.test");
    CHECK(serial_of(third) != serial_of(second));
    bench.now = noon - one_hour / 2;
    CHECK(serial_of(bench.leaf("a.test")) == serial_of(third));
    bench.now = noon - one_hour * 3 / 2;
    CHECK(serial_of(bench.leaf("a.test")) != serial_of(third));
    bench.now = noon + 2000 * one_day;
    CHECK(bench.leaf("a.test"));
}

TEST_CASE("a name that gets no certificate leaves nothing behind") {
    Bench bench;
    for (const char* host : {"*.test", "", "A.test", "192.0.2.1"})
        CHECK_FALSE(bench.interceptor->session_for(host, false));
    bench.now = noon + 4000 * one_day;  // past the CA's end
    const auto late = bench.interceptor->session_for("a.test", false);
    REQUIRE_FALSE(late);
    CHECK_THAT(late.error().what(), Contains("expired"));
    CHECK(bench.interceptor->counts().minted == 0);
    CHECK(bench.interceptor->counts().kept == 0);
}

TEST_CASE("how a session is set up") {
    Bench bench;
    const SslPtr session = bench.session("a.test");
    CHECK(SSL_is_server(session.get()) == 1);
    CHECK(SSL_get_verify_mode(session.get()) == SSL_VERIFY_NONE);
    CHECK(SSL_get_read_ahead(session.get()) == 0);
    CHECK(SSL_get_max_early_data(session.get()) == 0);
    CHECK((SSL_get_options(session.get()) & SSL_OP_NO_RENEGOTIATION) != 0);
    constexpr long wanted = SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                            SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER;
    CHECK((SSL_get_mode(session.get()) & wanted) == wanted);
}

TEST_CASE("what OpenSSL's client sends is read as it means it") {
    Client client;
    client.host = "api.example.com";
    client.alpn = {"h2", "http/1.1"};
    for (const int version : both_versions) {
        client.max_version = version;
        const std::string wire = client.hello();
        for (std::size_t size = 0; size < wire.size(); ++size) {
            CAPTURE(version, size);
            REQUIRE(tls::parse_client_hello(wire.substr(0, size)).outcome == tls::HelloOutcome::need_more);
        }
        const tls::HelloParse parse = tls::parse_client_hello(wire);
        REQUIRE(parse.outcome == tls::HelloOutcome::complete);
        CHECK(parse.hello.server_name == "api.example.com");
        CHECK(parse.hello.alpn == client.alpn);
    }
    Client by_address;
    by_address.host = "192.0.2.1";
    by_address.is_ip = true;
    const tls::HelloParse parse = tls::parse_client_hello(by_address.hello());
    REQUIRE(parse.outcome == tls::HelloOutcome::complete);
    CHECK_FALSE(parse.hello.server_name_given);
    CHECK_FALSE(parse.hello.alpn_given);
}
