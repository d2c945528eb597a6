#include <catch2/catch.hpp>
#include <map>

#include "surfaces/cli/client_commands.hpp"
#include "surfaces/cli/client_environment.hpp"

using namespace opid;

namespace {

ClientFacts facts(std::map<std::string, std::string> caller = {}) {
    ClientFacts out;
    out.proxy = "127.0.0.1:8080";
    out.trust = {"/d/ca/ca.pem", "/d/ca/bundle.pem", "/d/ca/truststore.p12", "changeit", "/d/ca/wgetrc"};
    out.caller = [caller = std::move(caller)](const std::string& name) {
        const auto at = caller.find(name);
        return at == caller.end() ? std::string() : at->second;
    };
    return out;
}

std::string value_of(const ClientEnvironment& environment, const std::string& name) {
    for (const auto& [known, value] : environment.variables) {
        if (known == name) return value;
    }
    return "(not set)";
}

constexpr const char* java =
    "-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=8080 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=8080 "
    "-Dhttp.nonProxyHosts=localhost|127.*|[::1] -Djavax.net.ssl.trustStore=/d/ca/truststore.p12 "
    "-Djavax.net.ssl.trustStoreType=PKCS12 -Djavax.net.ssl.trustStorePassword=changeit";

}  // namespace

TEST_CASE("the variables, all of them") {
    const ClientEnvironment environment = client_environment(facts());
    const Variables expected{
        {"http_proxy", "http://127.0.0.1:8080"},
        {"HTTP_PROXY", "http://127.0.0.1:8080"},
        {"https_proxy", "http://127.0.0.1:8080"},
        {"HTTPS_PROXY", "http://127.0.0.1:8080"},
        {"no_proxy", "localhost,127.0.0.1,::1"},
        {"NO_PROXY", "localhost,127.0.0.1,::1"},
        {"NODE_USE_ENV_PROXY", "1"},
        {"NODE_EXTRA_CA_CERTS", "/d/ca/ca.pem"},
        {"DENO_CERT", "/d/ca/ca.pem"},
        {"SSL_CERT_FILE", "/d/ca/bundle.pem"},
        {"REQUESTS_CA_BUNDLE", "/d/ca/bundle.pem"},
        {"CURL_CA_BUNDLE", "/d/ca/bundle.pem"},
        {"AWS_CA_BUNDLE", "/d/ca/bundle.pem"},
        {"GIT_SSL_CAINFO", "/d/ca/bundle.pem"},
        {"PIP_CERT", "/d/ca/bundle.pem"},
        {"TWILIO_CA_BUNDLE", "/d/ca/bundle.pem"},
        {"CARGO_HTTP_CAINFO", "/d/ca/bundle.pem"},
        {"BUNDLE_SSL_CA_CERT", "/d/ca/bundle.pem"},
        {"npm_config_cafile", "/d/ca/bundle.pem"},
        {"WGETRC", "/d/ca/wgetrc"},
        {"JAVA_TOOL_OPTIONS", java},
    };
    CHECK(environment.variables == expected);
    CHECK(environment.notes.empty());
}

TEST_CASE("a tenant's credentials stand in the proxy's URL, encoded") {
    const std::tuple<const char*, const char*, const char*> table[] = {
        {"agent", "opid_abc", "http://agent:opid_abc@127.0.0.1:8080"},
        {"a.b-c_d", "x~y", "http://a.b-c_d:x~y@127.0.0.1:8080"},
        {"agent", "a:b@c/d?e#f%g h+i", "http://agent:a%3Ab%40c%2Fd%3Fe%23f%25g%20h%2Bi@127.0.0.1:8080"},
    };
    for (const auto& [tenant, token, url] : table) {
        ClientFacts with = facts();
        with.tenant = tenant;
        with.token = Secret(token);
        const ClientEnvironment environment = client_environment(with);
        for (const char* name : {"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"}) {
            CHECK(value_of(environment, name) == url);
        }
        CHECK(value_of(environment, "JAVA_TOOL_OPTIONS") == java);
        REQUIRE(environment.notes.size() == 1);
        CHECK(environment.notes[0].find("Java") == 0);
        CHECK(environment.notes[0].find(token) == std::string::npos);
    }
}

TEST_CASE("Java's options follow the caller's own, once") {
    const std::string ours = java;
    const std::pair<std::string, std::string> table[] = {
        {"-Xmx1g", "-Xmx1g " + ours},
        {ours, ours},
        {"-Xmx1g " + ours, "-Xmx1g " + ours},
        {"-Dhttp.proxyHost=other", "-Dhttp.proxyHost=other " + ours},
    };
    for (const auto& [before, after] : table) {
        CHECK(value_of(client_environment(facts({{"JAVA_TOOL_OPTIONS", before}})), "JAVA_TOOL_OPTIONS") == after);
    }
}

TEST_CASE("Java's options keep odd paths and addresses whole") {
    const std::pair<const char*, const char*> table[] = {
        {"/a b/t.p12", "trustStore=\"/a b/t.p12\" "},     {"/it's/t.p12", "trustStore=\"/it's/t.p12\" "},
        {"/a\"b/t.p12", "trustStore=\"/a\"'\"b/t.p12' "}, {"/a'b\"c/t.p12", "trustStore=\"/a'b\"'\"c/t.p12' "},
        {"/$HOME/t.p12", "trustStore=/$HOME/t.p12 "},
    };
    for (const auto& [path, part] : table) {
        ClientFacts odd = facts();
        odd.trust.truststore = path;
        INFO(path);
        CHECK(value_of(client_environment(odd), "JAVA_TOOL_OPTIONS").find(part) != std::string::npos);
    }
    ClientFacts v6 = facts();
    v6.proxy = "[::1]:9000";
    const ClientEnvironment environment = client_environment(v6);
    CHECK(value_of(environment, "https_proxy") == "http://[::1]:9000");
    CHECK(value_of(environment, "JAVA_TOOL_OPTIONS").find("-Dhttps.proxyHost=::1 -Dhttps.proxyPort=9000 ") !=
          std::string::npos);
}

TEST_CASE("a CA setting of the caller's own is not replaced in silence") {
    CHECK(client_environment(facts({{"SSL_CERT_FILE", "/corp.pem"}})).notes.empty());  // its roots are taken over
    CHECK(client_environment(facts({{"SSL_CERT_FILE", "/corp.pem"}, {"CURL_CA_BUNDLE", "/corp.pem"}})).notes.empty());
    CHECK(client_environment(facts({{"CURL_CA_BUNDLE", "/d/ca/bundle.pem"}, {"DENO_CERT", "/d/ca/ca.pem"}}))
              .notes.empty());
    const ClientEnvironment replaced = client_environment(
        facts({{"NODE_EXTRA_CA_CERTS", "/corp.pem"}, {"PIP_CERT", "/pip.pem"}}));
    REQUIRE(replaced.notes.size() == 2);
    CHECK(replaced.notes[0].find("NODE_EXTRA_CA_CERTS was /corp.pem") == 0);
    CHECK(replaced.notes[1].find("PIP_CERT was /pip.pem") == 0);
}

TEST_CASE("wget's file repeats the user's own") {
    CHECK(wgetrc_text("", "", "/d/b.pem") == "# Made by opid from: \nca_certificate = /d/b.pem\n");
    CHECK(wgetrc_text("/h/.wgetrc", "timeout = 5", "/d e/b.pem") ==
          "# Made by opid from: /h/.wgetrc\ntimeout = 5\nca_certificate = /d e/b.pem\n");
    CHECK(wgetrc_text("/x", "a=b\n", "/b") == "# Made by opid from: /x\na=b\nca_certificate = /b\n");
    CHECK(wgetrc_origin(wgetrc_text("/h/.wgetrc", "x", "/b")) == "/h/.wgetrc");
    CHECK(wgetrc_origin(wgetrc_text("", "", "/b")).empty());
    CHECK(wgetrc_origin("timeout = 5\n").empty());
    CHECK(wgetrc_origin("").empty());
}

TEST_CASE("where the options of run end") {
    using Words = std::vector<std::string>;
    const std::tuple<Words, Words, Words> table[] = {
        {{}, {}, {}},
        {{"--"}, {}, {}},
        {{"true"}, {}, {"true"}},
        {{"--", "true"}, {}, {"true"}},
        {{"sh", "-c", "x", "--", "y"}, {}, {"sh", "-c", "x", "--", "y"}},
        {{"--", "--help"}, {}, {"--help"}},
        {{"--", "--", "x"}, {}, {"--", "x"}},
        {{"--config", "a", "true", "--config", "b"}, {"--config", "a"}, {"true", "--config", "b"}},
        {{"--config=a", "true"}, {"--config=a"}, {"true"}},
        {{"--config", "--", "--", "x"}, {"--config", "--"}, {"x"}},
        {{"--config"}, {"--config"}, {}},
        {{"--data", "d", "--tenant", "t", "--", "env", "--json"}, {"--data", "d", "--tenant", "t"}, {"env", "--json"}},
        {{"--unknown", "true"}, {"--unknown"}, {"true"}},
        {{"-h"}, {"-h"}, {}},
        {{"-", "x"}, {}, {"-", "x"}},
        {{"", "x"}, {}, {"", "x"}},
        {{"version"}, {}, {"version"}},
    };
    for (const auto& [arguments, ours, command] : table) {
        const RunArguments split = split_run_arguments(arguments, {"--config", "--data", "--tenant", "--tenant-token"});
        CHECK(split.ours == ours);
        CHECK(split.command == command);
    }
}
