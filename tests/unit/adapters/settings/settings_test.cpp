#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "loading.hpp"

using namespace opid;

namespace {

Settings loaded(const std::string& text) {
    const LoadedSettings result = load_settings_text(text, "c.yaml", test_sources());
    INFO(to_text(result.problems));
    REQUIRE(result.settings);
    return *result.settings;
}

void check_limits(const LimitSettings& l) {
    CHECK(l.request_body == 16777216);
    CHECK(l.memory_body == 1048576);
    CHECK(l.decoded_body == 67108864);
    CHECK(l.stored_response == 1048576);
    CHECK(l.kept_response == 16777216);
    CHECK(l.body_memory == 268435456);
    CHECK(l.spool == 4294967296);
    CHECK(l.head == 61440);
    CHECK(l.fields == 512);
    CHECK(l.target == 16384);
    CHECK(l.chunk_extensions == 8192);
    CHECK(l.trailers == 61440);
    CHECK(l.interim == 32);
    CHECK(l.connections == 4096);
    CHECK(l.guarded == 1024);
    CHECK(l.waiters == 256);
    CHECK(l.upstream_idle == 512);
    CHECK(l.certificates == 1024);
    CHECK(l.store_queue == 4096);
    CHECK(l.disk_reserve == 536870912);
    CHECK(l.admin_body == 1048576);
    CHECK(l.events == 64);
}

void check_timeouts(const TimeoutSettings& t) {
    CHECK(t.connect == Millis{5000});
    CHECK(t.tls == Millis{5000});
    CHECK(t.upstream_response == Millis{60000});
    CHECK(t.recovery == Millis{20000});
    CHECK(t.wait == Millis{30000});
    CHECK(t.wait_max == Millis{300000});
    CHECK(t.lease == Millis{15000});
    CHECK(t.store == Millis{5000});
    CHECK(t.drain == Millis{30000});
    CHECK(t.head == Millis{30000});
    CHECK(t.idle == Millis{120000});
    CHECK(t.body_stall == Millis{30000});
    CHECK(t.sniff == Millis{2000});
    CHECK(t.sweep == Millis{10000});
}

void check_defaults(const Settings& s) {
    CHECK(s.listen.proxy.to_string() == "127.0.0.1:8080");
    CHECK(s.listen.admin.to_string() == "127.0.0.1:8081");
    CHECK(s.listen.providers.empty());
    CHECK(s.data == "./data");
    CHECK(to_word(s.store.engine) == "rocksdb");
    CHECK(s.tenants.empty());
    check_limits(s.limits);
    check_timeouts(s.timeouts);
    CHECK(s.retention.records == Millis{2592000000});
    CHECK(s.retention.tombstones == Millis{34560000000});
    CHECK(s.egress.deny == std::vector<std::string>{"private", "metadata"});
    CHECK(s.egress.allow.empty());
    CHECK(s.egress.resolve.empty());
    CHECK(s.admin_tokens.empty());
    CHECK(s.approval_keys.empty());
    CHECK(s.via == "opid");
    CHECK(to_word(s.log_level) == "info");
    CHECK(to_word(s.log_format) == "json");
    CHECK(s.threads == 0);
    CHECK(s.node.empty());
}

}  // namespace

TEST_CASE("an empty file means the defaults, and so does the one that spells them out") {
    check_defaults(Settings{});
    check_defaults(loaded(""));
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(OPID_SOURCE_DIR);
    const LoadedSettings shipped = load_settings("config/opid.yaml", test_sources());
    const LoadedSettings minimal = load_settings("./config/minimal.yaml", test_sources());
    std::filesystem::current_path(before);
    INFO(to_text(shipped.problems) << to_text(minimal.problems));
    REQUIRE(shipped.settings);
    check_defaults(*shipped.settings);
    CHECK(shipped.settings->policies == std::vector<std::string>{"policies"});
    REQUIRE(minimal.settings);
    check_defaults(*minimal.settings);
    CHECK(minimal.settings->policies == std::vector<std::string>{"policies"});
}

TEST_CASE("every key is read") {
    const Settings s = loaded(R"(
listen: {proxy: "0.0.0.0:0", admin: "[::1]:9001", providers: {stripe: "127.0.0.1:8090", b: "localhost:0"}}
data: /var/lib/opid
store: {engine: postgres, dsn: env:DSN}
policies: []
tenants:
  - {name: billing-agent, tokens: [env:TOKEN_A, env:TOKEN_B]}
  - {name: other, tokens: env:DSN}
limits: {request_body: 1MiB, head: 8KiB, target: 4KiB, fields: 100, memory_body: 0, body_memory: 2MiB}
timeouts: {connect: 250ms, upstream_response: 2m, wait: 10m}
retention: {records: 1h, tombstones: 2d}
egress: {deny: [10.0.0.0/8, "*.internal.test"], allow: [metadata, "10.1.2.3"],
         resolve: {"API.test:443": "127.0.0.1:9443"}}
admin: {tokens: [{name: on-call, role: operator, token: env:TOKEN_A}, {name: eye, role: viewer, token: env:TOKEN_B}]}
approvals: {keys: [{id: k1, algorithm: EdDSA, key: env:TOKEN_A},
                  {id: k2, algorithm: HS256, key: env:TOKEN_B, approver: desk}]}
via: off
log: {level: debug, format: text}
threads: 3
node: n-1
)");
    CHECK(s.listen.proxy.to_string() == "0.0.0.0:0");
    CHECK(s.listen.admin.to_string() == "[::1]:9001");
    REQUIRE(s.listen.providers.size() == 2);
    CHECK(s.listen.providers[0].first == "stripe");
    CHECK(s.listen.providers[0].second.to_string() == "127.0.0.1:8090");
    CHECK(s.data == "/var/lib/opid");
    CHECK(to_word(s.store.engine) == "postgres");
    CHECK(s.store.dsn.reveal() == "postgres://");
    CHECK(s.policies.empty());
    REQUIRE(s.tenants.size() == 2);
    CHECK(s.tenants[0].tokens[1].reveal() == "secret-b");
    CHECK(s.limits.request_body == 1048576);
    CHECK(s.limits.trailers == 8192);
    CHECK(s.timeouts.connect == Millis{250});
    CHECK(s.timeouts.wait_max == Millis{600000});
    CHECK(s.retention.tombstones == Millis{172800000});
    CHECK(s.egress.deny == std::vector<std::string>{"10.0.0.0/8", "*.internal.test"});
    CHECK(s.egress.resolve == std::vector<std::pair<std::string, std::string>>{{"api.test:443", "127.0.0.1:9443"}});
    REQUIRE(s.admin_tokens.size() == 2);
    CHECK(to_word(s.admin_tokens[0].role) == "operator");
    CHECK(s.admin_tokens[1].token.reveal() == "secret-b");
    REQUIRE(s.approval_keys.size() == 2);
    CHECK(s.approval_keys[0].approver == "k1");
    CHECK(s.approval_keys[1].approver == "desk");
    CHECK(s.approval_keys[1].algorithm == ApprovalAlgorithm::hs256);
    CHECK(s.via.empty());
    CHECK(to_word(s.log_format) == "text");
    CHECK(s.threads == 3);
    CHECK(s.node == "n-1");
}

TEST_CASE("paths lead from the file's folder first, then from the working directory") {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "opid-settings-test";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder / "rules");
    std::ofstream(folder / "token") << "from a file\n";
    std::ofstream(folder / "c.yaml") << "policies: [rules]\ntenants: [{name: a, tokens: [file:token]}]\n";
    const LoadedSettings result = load_settings((folder / "c.yaml").string(), test_sources());
    INFO(to_text(result.problems));
    REQUIRE(result.settings);
    CHECK(result.settings->policies == std::vector<std::string>{(folder / "rules").string()});
    CHECK(result.settings->tenants.at(0).tokens.at(0).reveal() == "from a file");
    std::filesystem::remove_all(folder);
}

TEST_CASE("which file is read") {
    CHECK(find_settings_file("given.yaml") == "given.yaml");
    CHECK(to_text(load_settings("/nowhere/c.yaml", test_sources()).problems) == "/nowhere/c.yaml: no such file\n");
    CHECK(to_text(load_settings("/tmp", test_sources()).problems) == "/tmp: is no file\n");
}
