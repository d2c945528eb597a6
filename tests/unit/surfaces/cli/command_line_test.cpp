#include <catch2/catch.hpp>
#include <sstream>

#include "support/golden.hpp"
#include "surfaces/cli/cli_output.hpp"
#include "surfaces/cli/command_line.hpp"

using namespace opid;

namespace {

class FakeHost final : public CliHost {
public:
    int serve(const std::string& config, const std::string& data) override {
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
    std::string fresh_token() override { return "opid_fresh"; }
    std::string_view version() const override { return "1.2.3"; }

    std::string served;
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
        {{"run", "--", "true"}, exit_unavailable},
        {{"env"}, exit_unavailable},
        {{"ca", "show"}, exit_unavailable},
        {{"doctor"}, exit_unavailable},
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
    CHECK(run(host, {"run", "--", "true"}).err == "opid: `run` is not available in this build\n");
    run(host, {"serve", "--config", "c", "--data", "d"});
    CHECK(host.served == "c|d");
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
