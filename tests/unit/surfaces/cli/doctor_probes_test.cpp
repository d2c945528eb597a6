#include <catch2/catch.hpp>
#include <set>

#include "surfaces/cli/doctor_probes.hpp"

using namespace opid;

namespace {

Captured ended(int code, std::string out, std::string err) {
    Captured captured;
    captured.exit_code = code;
    captured.out = std::move(out);
    captured.err = std::move(err);
    return captured;
}

ProbeResult result_of(const Captured& captured) { return judge(captured, "407n", "doctor-407n-x").result; }

}  // namespace

TEST_CASE("seen is what names nonce and operation ID") {
    const std::pair<const char*, ProbeResult> table[] = {
        {R"({"opid":"seen","nonce":"407n","operation_id":"doctor-407n-x"})", ProbeResult::seen},
        {R"({"operation_id":"doctor-407n-x","nonce":"407n","opid":"seen","more":1})", ProbeResult::seen},
        {R"({"opid":"seen","nonce":"407n","operation_id":null})", ProbeResult::failed},
        {R"({"opid":"seen","nonce":"407n"})", ProbeResult::failed},
        {R"({"opid":"seen","nonce":"other","operation_id":"doctor-407n-x"})", ProbeResult::failed},
        {R"({"opid":1})", ProbeResult::failed},
        {"[]", ProbeResult::failed},
        {"", ProbeResult::failed},
    };
    for (const auto& [out, expected] : table) {
        INFO(out);
        CHECK(result_of(ended(0, std::string(out) + "\n", "")) == expected);
    }
}

TEST_CASE("what stacks say when they go past the proxy, or don't trust it") {
    const std::pair<const char*, ProbeResult> table[] = {
        {"curl: (6) Could not resolve host: doctor.opid.invalid", ProbeResult::ignores},
        {"curl: (5) Could not resolve proxy: nowhere", ProbeResult::failed},
        {"wget: unable to resolve host address 'doctor.opid.invalid'", ProbeResult::ignores},
        {"URLError: <urlopen error [Errno -2] Name or service not known>", ProbeResult::ignores},
        {"URLError: <urlopen error [Errno -3] Temporary failure in name resolution>", ProbeResult::ignores},
        {"ClientConnectorError: Cannot connect to host doctor.opid.invalid:443 ssl:default", ProbeResult::ignores},
        {"ENOTFOUND getaddrinfo ENOTFOUND doctor.opid.invalid", ProbeResult::ignores},
        {"fetch failed: EAI_AGAIN getaddrinfo EAI_AGAIN doctor.opid.invalid", ProbeResult::ignores},
        {"Post \"https://doctor.opid.invalid/\": dial tcp: lookup doctor.opid.invalid: no such host",
         ProbeResult::ignores},
        {"java.net.ConnectException; java.nio.channels.UnresolvedAddressException; ", ProbeResult::ignores},
        {"curl: (60) SSL certificate problem: unable to get local issuer certificate", ProbeResult::untrusted},
        {"ERROR: The certificate of 'doctor.opid.invalid' is not trusted.", ProbeResult::untrusted},
        {"SSLError: [SSL: CERTIFICATE_VERIFY_FAILED]", ProbeResult::untrusted},
        {"UNABLE_TO_VERIFY_LEAF_SIGNATURE unable to verify the first certificate", ProbeResult::untrusted},
        {"SELF_SIGNED_CERT_IN_CHAIN self-signed certificate", ProbeResult::untrusted},
        {"x509: certificate signed by unknown authority", ProbeResult::untrusted},
        {"javax.net.ssl.SSLHandshakeException: PKIX path building failed", ProbeResult::untrusted},
        {"curl: (56) CONNECT tunnel failed, response 407", ProbeResult::refused},
        {"ProxyError: Tunnel connection failed: 407 Proxy Authentication Required", ProbeResult::refused},
        {"curl: (56) CONNECT tunnel failed, response 502", ProbeResult::failed},
        {"something about 407n went wrong", ProbeResult::failed},
    };
    for (const auto& [err, expected] : table) {
        INFO(err);
        CHECK(result_of(ended(1, "", std::string(err) + "\n")) == expected);
        CHECK(judge(ended(1, "", std::string("Picked up JAVA_TOOL_OPTIONS: -Dx\n") + err + "\nmore\n"), "407n", "")
                  .detail == err);
    }
}

TEST_CASE("a stack that is not there, and one that hangs") {
    CHECK(result_of(ended(77, "", "")) == ProbeResult::absent);
    Captured missing = ended(127, "", "");
    missing.failure = 2;
    CHECK(result_of(missing) == ProbeResult::absent);
    Captured late = ended(137, "", "connecting");
    late.in_time = false;
    CHECK(result_of(late) == ProbeResult::late);
    CHECK(to_word(ProbeResult::seen) == "seen");
    CHECK(to_word(ProbeResult::failed) == "failed");
}

TEST_CASE("each probe has its own operation ID in its command") {
    const ProbeRequest request{"n0", "/tmp/x"};
    std::set<std::string> stacks;
    for (const Probe& probe : probes(request)) {
        INFO(probe.stack);
        CHECK(stacks.insert(probe.stack).second);
        const std::string id = "doctor-n0-" + probe.stack;
        bool has_id = false;
        bool has_url = false;
        for (const std::string& word : probe.command) {
            has_id = has_id || word.ends_with(id);
            has_url = has_url || word == "https://doctor.opid.invalid/echo/n0";
        }
        CHECK(has_id);
        CHECK(has_url);
    }
    CHECK(stacks == std::set<std::string>{"curl", "wget", "python-urllib", "python-requests", "python-httpx",
                                          "python-aiohttp", "node-https", "node-fetch", "go", "java-http", "ruby"});
}

TEST_CASE("which Node heeds the variables") {
    const std::tuple<const char*, bool, bool> table[] = {
        {"v20.20.2\n", false, false}, {"v22.20.0", false, false}, {"v22.21.0", true, true}, {"v23.11.0", false, false},
        {"v24.0.0", true, false},     {"v24.4.1", true, false},   {"v24.5.0", true, true},  {"v24.22.3\n", true, true},
        {"v26.0.0", true, true},      {"", false, false},         {"v", false, false},      {"v25", true, true},
    };
    for (const auto& [version, fetch, https] : table) {
        INFO(version);
        CHECK(node_heeds_environment(version, true) == fetch);
        CHECK(node_heeds_environment(version, false) == https);
    }
}
