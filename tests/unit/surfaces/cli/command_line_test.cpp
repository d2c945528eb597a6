#include <catch2/catch.hpp>
#include <sstream>

#include "support/golden.hpp"
#include "surfaces/cli/cli_output.hpp"
#include "surfaces/cli/command_line.hpp"

using namespace opid;

namespace {

class FakeHost final : public CliHost {
public:
    int serve(const std::string& config, const std::string& data, bool) override {
        served = config + "|" + data;
        return exit_ok;
    }
    CliSettings settings(const std::string& config, const std::string&) override {
        CliSettings out;
        if (config == "bad.yaml") {
            CliProblem problem;
            problem.shown = "bad.yaml:1: wrong";
            out.problems.push_back(problem);
        }
        out.data = "/nowhere";
        out.admin_address = "127.0.0.1:1";
        out.proxy_address = config == "unbound.yaml" ? "" : "127.0.0.1:8080";
        out.tenants = {"agent"};
        out.policies = {"policies"};
        return out;
    }
    CliPolicies policies(const std::vector<std::string>& paths) override {
        CliPolicies out;
        if (paths == std::vector<std::string>{"bad"}) {
            CliProblem problem;
            problem.file = "a.yaml";
            problem.line = 3;
            problem.text = "unknown key";
            problem.shown = "a.yaml:3: unknown key\x1b[2J";
            out.problems.push_back(problem);
            return out;
        }
        auto profile = std::make_shared<Profile>();
        profile->provider = "stripe";
        profile->hosts = {"api.stripe.com"};
        profile->upstream_scheme = "https";
        profile->upstream_authority = "api.stripe.com";
        profile->default_rule.name = "default";
        out.profiles = std::make_shared<const ProfileSet>(std::vector<ProfilePtr>{profile});
        return out;
    }
    Result<CliStoreReport> verify_store(const std::string&) override {
        CliStoreReport report;
        report.sound = sound;
        report.counts = {{"open_records", 2}};
        return report;
    }
    Result<std::string> backup_store(const std::string& data, const std::string&) override {
        return "offline of " + data;
    }
    Result<std::string> restore_store(const std::string&, const std::string&, bool force) override {
        if (!force) return Error(ErrorKind::conflict, "there is a database");
        return std::string("restored");
    }
    Result<CliTrust> trust(const std::string&, bool) override {
        CliTrust out;
        out.subject = "CN=opid CA";
        out.fingerprint = "AB:CD";
        out.not_before = from_unix_ms(951'782'400'000);
        out.not_after = from_unix_ms(4'102'444'799'000);
        out.folder = "/nowhere/ca";
        out.ca = "/nowhere/ca/ca.pem";
        out.bundle = "/nowhere/ca/bundle.pem";
        out.truststore = "/nowhere/ca/truststore.p12";
        out.truststore_password = "changeit";
        return out;
    }
    Result<CliTrust> rotate_trust(const std::string& data) override { return trust(data, true); }
    Status replace_file(const std::string& path, std::string_view text) override {
        written.emplace_back(path, text);
        return ok();
    }
    std::string fresh_token() override { return "opid_fresh"; }
    std::string_view version() const override { return "1.2.3"; }

    std::string served;
    std::vector<std::pair<std::string, std::string>> written;
    bool sound = true;
};

struct Ran {
    int code = 0;
    std::string out;
    std::string err;
};

Ran run(FakeHost& host, std::vector<const char*> words) {
    words.insert(words.begin(), "opid");
    std::ostringstream out;
    std::ostringstream err;
    Ran ran;
    ran.code = run_command_line(static_cast<int>(words.size()), words.data(), host, out, err);
    ran.out = out.str();
    ran.err = err.str();
    return ran;
}

}  // namespace

TEST_CASE("help is what the golden file shows") {
    FakeHost host;
    std::string all;
    for (const auto& words : std::vector<std::vector<const char*>>{{"--help"},
                                                                   {"serve", "--help"},
                                                                   {"run", "--help"},
                                                                   {"env", "--help"},
                                                                   {"doctor", "--help"},
                                                                   {"ca", "--help"},
                                                                   {"ca", "export", "--help"},
                                                                   {"ops", "--help"},
                                                                   {"ops", "resolve", "--help"},
                                                                   {"policy", "--help"},
                                                                   {"policy", "explain", "--help"},
                                                                   {"store", "--help"},
                                                                   {"tenant", "--help"}}) {
        const Ran ran = run(host, words);
        CHECK(ran.code == exit_ok);
        all += "$ opid";
        for (const char* word : words) all += std::string(" ") + word;
        all += "\n" + ran.out + "\n";
    }
    CHECK(all == opid::test::golden("cli_help.txt", all));
}

TEST_CASE("exit codes") {
    FakeHost host;
    const std::pair<std::vector<const char*>, int> table[] = {
        {{"version"}, exit_ok},
        {{"serve", "--config", "x"}, exit_ok},
        {{}, exit_usage},
        {{"no-such-command"}, exit_usage},
        {{"ops"}, exit_usage},
        {{"ops", "resolve", "id"}, exit_usage},
        {{"ops", "resolve", "id", "--as", "failed"}, exit_usage},
        {{"ops", "list", "--limit", "0"}, exit_usage},
        {{"ops", "list"}, exit_no_proxy},
        {{"ops", "list", "--config", "bad.yaml"}, exit_problem},
        {{"policy", "check"}, exit_ok},
        {{"policy", "check", "bad"}, exit_problem},
        {{"policy", "explain", "POST", "not a url"}, exit_usage},
        {{"store", "verify"}, exit_ok},
        {{"store", "restore", "x"}, exit_problem},
        {{"store", "restore", "x", "--force"}, exit_ok},
        {{"store", "backup", "x"}, exit_ok},
        {{"store", "migrate"}, exit_unavailable},
        {{"run"}, exit_usage},
        {{"run", "--"}, exit_usage},
        {{"run", "--no-such-option", "true"}, exit_usage},
        {{"run", "--", "true"}, exit_no_proxy},
        {{"run", "--tenant", "stranger", "true"}, exit_usage},
        {{"env"}, exit_ok},
        {{"env", "--json"}, exit_ok},
        {{"env", "--format", "cmd"}, exit_usage},
        {{"env", "--config", "bad.yaml"}, exit_problem},
        {{"env", "--config", "unbound.yaml"}, exit_no_proxy},
        {{"env", "--tenant", "stranger"}, exit_usage},
        {{"env", "--tenant", "agent", "--tenant-token", "plain"}, exit_usage},
        {{"env", "--tenant", "agent", "--tenant-token", "env:OPID_TEST_NOT_SET"}, exit_usage},
        {{"env", "--tenant-token", "env:HOME"}, exit_usage},
        {{"ca"}, exit_usage},
        {{"ca", "show"}, exit_ok},
        {{"ca", "export"}, exit_problem},
        {{"ca", "rotate"}, exit_ok},
        {{"doctor"}, exit_no_proxy},
        {{"tenant", "add", "billing-agent"}, exit_ok},
        {{"tenant", "add", "a b"}, exit_usage},
    };
    for (const auto& [words, code] : table) {
        std::string line;
        for (const char* word : words) line += std::string(word) + " ";
        INFO(line);
        CHECK(run(host, words).code == code);
    }
    host.sound = false;
    CHECK(run(host, {"store", "verify"}).code == exit_problem);
}

TEST_CASE("what the commands say") {
    FakeHost host;
    CHECK(run(host, {"version"}).out == "opid 1.2.3\n");
    CHECK(run(host, {"policy", "check", "bad"}).err == "a.yaml:3: unknown key?[2J\n");
    CHECK(
        run(host, {"policy", "check", "bad", "--json"}).out ==
        R"({"ok":false,"profiles":0,"problems":[{"file":"a.yaml","line":3,"column":0,"path":"","text":"unknown key","hint":""}],"warnings":[]})"
        "\n");
    CHECK(run(host, {"tenant", "add", "billing-agent"})
              .out.find("- {name: billing-agent, tokens: [env:OPID_TOKEN_BILLING_AGENT]}") != std::string::npos);
    CHECK(run(host, {"store", "migrate"}).err == "opid: `migrate` is not available in this build\n");
    run(host, {"serve", "--config", "c", "--data", "d"});
    CHECK(host.served == "c|d");
}

TEST_CASE("env prints the variables and writes wget's file") {
    FakeHost host;
    const Ran ran = run(host, {"env"});
    CHECK(ran.out.find("export http_proxy='http://127.0.0.1:8080'\n") == 0);
    CHECK(ran.out.find("\nexport CURL_CA_BUNDLE='/nowhere/ca/bundle.pem'\n") != std::string::npos);
    CHECK(ran.err.find("--tenant") != std::string::npos);
    REQUIRE(host.written.size() == 1);
    CHECK(host.written[0].first == "/nowhere/ca/wgetrc");
    CHECK(host.written[0].second.ends_with("ca_certificate = /nowhere/ca/bundle.pem\n"));
}

TEST_CASE("what is said of the CA") {
    FakeHost host;
    CHECK(run(host, {"ca", "show"}).out ==
          "subject      CN=opid CA\nfingerprint  AB:CD\nnot_before   2000-02-29T00:00:00Z\n"
          "not_after    2099-12-31T23:59:59Z\nca           /nowhere/ca/ca.pem\nbundle       /nowhere/ca/bundle.pem\n"
          "truststore   /nowhere/ca/truststore.p12\n");
    CHECK(run(host, {"ca", "show", "--json"}).out.find(R"({"subject":"CN=opid CA","fingerprint":"AB:CD",)") == 0);
    CHECK(run(host, {"ca", "rotate"}).err.find("no opid answers at 127.0.0.1:1") != std::string::npos);
}

TEST_CASE("explain tells what would be done") {
    FakeHost host;
    const Ran ran = run(host, {"policy", "explain", "POST", "https://api.stripe.com/v1/refunds?a=1", "-H",
                               "Content-Type: application/json", "-H", "Operation-Id: x", "--json"});
    CHECK(ran.code == exit_ok);
    for (const char* part : {R"("provider":"stripe")", R"("rule":"default")", R"("class":"write")", R"("digest":")",
                             R"("ladder":["review"])", R"("carrier":"none")", "opid-intent-1"}) {
        INFO(ran.out);
        CHECK(ran.out.find(part) != std::string::npos);
    }
    CHECK(run(host, {"policy", "explain", "GET", "https://elsewhere.test/", "--json"}).out ==
          R"({"provider":null,"class":"pass-through"})"
          "\n");
}

TEST_CASE("tables") {
    Table table({"A", "B"});
    table.add({"long", "x\x1b"});
    std::ostringstream out;
    table.print(out);
    CHECK(out.str() == "A     B\nlong  x?\n");
}
