#include <catch2/catch.hpp>

#include "adapters/net/connection_pool.hpp"
#include "adapters/net/egress_policy.hpp"
#include "adapters/net/own_endpoints.hpp"

namespace opid {

namespace {

EgressPolicy policy_of(std::vector<std::string> deny, std::vector<std::string> allow) {
    EgressRules rules;
    rules.deny = std::move(deny);
    rules.allow = std::move(allow);
    Result<EgressPolicy> policy = EgressPolicy::parse(rules);
    REQUIRE(policy);
    return *policy;
}

bool passes(const EgressPolicy& policy, std::string_view host, std::vector<std::string> addresses) {
    std::vector<http::IpAddress> ips;
    for (const std::string& address : addresses) {
        const auto ip = http::parse_ip(address);
        REQUIRE(ip);
        ips.push_back(*ip);
    }
    return !policy.refusal(host, 443, ips);
}

}  // namespace

TEST_CASE("the default policy keeps private places and metadata services out") {
    const EgressPolicy policy = policy_of({"private", "metadata"}, {});
    CHECK(passes(policy, "example.com", {"93.184.216.34"}));
    CHECK(passes(policy, "example.com", {"2606:2800:220:1::1"}));
    for (const char* address :
         {"127.0.0.1",       "10.1.2.3",      "192.168.0.1",     "172.16.0.1",      "100.64.0.1",
          "0.0.0.0",         "::1",           "fd00::1",         "fe80::1",         "::ffff:10.0.0.1",
          "64:ff9b::7f00:1", "2002:7f00:1::", "224.0.0.1",       "255.255.255.255", "192.0.0.1",
          "198.18.0.1",      "240.0.0.1",     "169.254.169.254", "fd00:ec2::254",   "169.254.1.1"}) {
        CAPTURE(address);
        CHECK_FALSE(passes(policy, "example.com", {address}));
    }
}

TEST_CASE("one denied address refuses the whole name") {
    const EgressPolicy policy = policy_of({"private", "metadata"}, {});
    CHECK_FALSE(passes(policy, "rebind.example", {"93.184.216.34", "127.0.0.1"}));
}

TEST_CASE("allow lifts the private class, never metadata unless it names it") {
    CHECK(passes(policy_of({"private", "metadata"}, {"127.0.0.0/8"}), "a.example", {"127.0.0.1"}));
    CHECK(passes(policy_of({"private", "metadata"}, {"a.example"}), "a.example", {"10.0.0.1"}));
    CHECK(passes(policy_of({"private", "metadata"}, {"*.example"}), "a.example", {"10.0.0.1"}));
    CHECK_FALSE(passes(policy_of({"private", "metadata"}, {"*.example"}), "example", {"10.0.0.1"}));
    CHECK_FALSE(passes(policy_of({"private", "metadata"}, {"a.example", "private"}), "a.example", {"169.254.169.254"}));
    CHECK_FALSE(passes(policy_of({"private", "metadata"}, {"169.254.0.0/16"}), "a.example", {"169.254.169.254"}));
    CHECK(passes(policy_of({"private", "metadata"}, {"metadata"}), "a.example", {"169.254.169.254"}));
}

TEST_CASE("explicit denials win over what is allowed") {
    CHECK_FALSE(passes(policy_of({"bad.example"}, {"bad.example"}), "bad.example", {"93.184.216.34"}));
    CHECK_FALSE(passes(policy_of({"93.184.216.0/24"}, {"a.example"}), "a.example", {"93.184.216.34"}));
}

TEST_CASE("names of metadata services and port 25 are refused before anything is looked up") {
    const EgressPolicy policy = policy_of({"private", "metadata"}, {});
    CHECK(policy.refusal_of_name("metadata.google.internal", 80));
    CHECK(policy.refusal_of_name("example.com", 25));
    CHECK_FALSE(policy.refusal_of_name("example.com", 443));
}

TEST_CASE("rules that mean nothing are refused by name") {
    EgressRules rules;
    rules.allow = {"10.0.0.0/33"};
    const Result<EgressPolicy> policy = EgressPolicy::parse(rules);
    REQUIRE_FALSE(policy);
    CHECK(policy.error().what().find("10.0.0.0/33") != std::string::npos);
    rules.allow.clear();
    rules.resolve = {{"api.example.com", "127.0.0.1:1"}};
    CHECK_FALSE(EgressPolicy::parse(rules));
}

TEST_CASE("fixed addresses are found by name and port") {
    EgressRules rules;
    rules.resolve = {{"API.example.com:443", "127.0.0.1:9443"}};
    const Result<EgressPolicy> policy = EgressPolicy::parse(rules);
    REQUIRE(policy);
    const auto fixed = policy->fixed_address("api.example.com", 443);
    REQUIRE(fixed);
    CHECK(fixed->port == 9443);
    CHECK_FALSE(policy->fixed_address("api.example.com", 80));
}

TEST_CASE("own listeners are recognised, those on all addresses by every address of this machine") {
    OwnEndpoints own;
    own.add(*parse_address_and_port("127.0.0.1:8080"), OwnEndpoint::proxy);
    own.add(*parse_address_and_port("0.0.0.0:8081"), OwnEndpoint::admin);
    const auto find = [&own](std::string_view ip, std::uint16_t port) { return own.find(*http::parse_ip(ip), port); };
    CHECK(find("127.0.0.1", 8080) == OwnEndpoint::proxy);
    CHECK(find("::ffff:127.0.0.1", 8080) == OwnEndpoint::proxy);
    CHECK(find("0.0.0.0", 8080) == OwnEndpoint::proxy);
    CHECK(find("127.0.0.1", 8082) == OwnEndpoint::none);
    CHECK(find("127.9.9.9", 8081) == OwnEndpoint::admin);
    CHECK(find("93.184.216.34", 8081) == OwnEndpoint::none);
}

TEST_CASE("a Keep-Alive hint shortens the rest of a connection") {
    CHECK(keep_hint("timeout=5, max=100") == Millis{4000});
    CHECK(keep_hint("timeout=3") == Millis{2000});
    CHECK(keep_hint("Timeout=1") == Millis{0});
    CHECK(keep_hint("timeout=0") == Millis{0});
    CHECK(keep_hint("max=3") == Millis{4000});
    CHECK(keep_hint("timeout=99999999999999") == Millis{4000});
}

}  // namespace opid
