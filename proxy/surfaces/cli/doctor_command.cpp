#include "surfaces/cli/doctor_command.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/time_text.hpp"
#include "core/identity/form_fields.hpp"
#include "surfaces/cli/cli_output.hpp"
#include "surfaces/cli/client_session.hpp"
#include "surfaces/cli/doctor_probes.hpp"

namespace opid {
namespace {

namespace json = boost::json;

class TemporaryFolder {
public:
    TemporaryFolder() {
        std::error_code error;
        std::string name = (std::filesystem::temp_directory_path(error) / "opid-doctor-XXXXXX").string();
        if (::mkdtemp(name.data()) != nullptr) path_ = std::move(name);
    }
    ~TemporaryFolder() {
        std::error_code error;
        if (!path_.empty()) std::filesystem::remove_all(path_, error);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

struct Finding {
    std::string stack;
    ProbeVerdict verdict;
    std::string advice;
    bool expected = false;  // not seen, and known not to be
};

struct Check {
    std::string name;
    bool good = true;
    std::string text;
};

class Doctor {
public:
    Doctor(CliHost& host, ClientTenant tenant, CliSettings found, CliTrust trust, SignalWatch& signals)
        : host_(host),
          tenant_(std::move(tenant)),
          found_(std::move(found)),
          trust_(std::move(trust)),
          signals_(signals) {}

    void look_around(const std::string& proxy) {
        proxy_ = proxy;
        const ProxyState state = proxy_state(found_);
        const bool ours = state.kind == ProxyState::Kind::ours;
        checks_.push_back({"proxy", ours && state.ready,
                           ours ? fmt::format("{} answers (opid {}){}", proxy, state.version,
                                              state.ready ? "" : ", not ready: " + state.text)
                                : state.text});
        checks_.push_back(
            {"CA", true, fmt::format("{}, valid until {}", trust_.subject, utc_seconds(trust_.not_after))});
        if (!state.fingerprint.empty() && state.fingerprint != trust_.fingerprint) {
            checks_.back().good = false;
            checks_.back().text = fmt::format("the running proxy uses another CA than {}: start it again", trust_.ca);
        }
        std::error_code error;
        const auto bytes = std::filesystem::file_size(trust_.bundle, error);
        checks_.push_back({"bundle", !error && bytes > 0, trust_.bundle});
        checks_.push_back({"profiles", state.profiles > 0,
                           state.profiles > 0 ? fmt::format("{} in force", state.profiles)
                                              : std::string("none in force: no write is guarded")});
    }

    // The signal that ended it; 0: none.
    int try_stacks(const ClientEnvironment& environment) {
        const TemporaryFolder folder;
        ProbeRequest request;
        constexpr std::size_t nonce_length = 16;
        const std::string token = host_.fresh_token();
        request.nonce = token.substr(token.size() - std::min(nonce_length, token.size()));
        request.folder = folder.path();
        for (const auto& [name, text] : probe_programs()) {
            std::ofstream file(folder.path() + "/" + name, std::ios::binary);
            file << text;
        }
        std::vector<std::string> variables = environment_with(environment.variables);
        variables.emplace_back("GOTOOLCHAIN=local");  // or a `go` that is too old would want to load another
        for (const Probe& probe : probes(request)) {
            const bool there = !find_program(probe.command[0]).empty() &&
                               (probe.needs.empty() || !find_program(probe.needs).empty());
            if (!there) continue;
            const Captured captured = run_captured(probe.command, variables, probe.time_limit, signals_);
            if (captured.interrupted != 0) return captured.interrupted;
            ProbeVerdict verdict = judge(captured, request.nonce, probe_operation_id(request, probe.stack));
            if (verdict.result == ProbeResult::absent) continue;
            verdict.detail = without_token(std::move(verdict.detail));
            findings_.push_back(finding_of(probe, std::move(verdict)));
        }
        return 0;
    }

    bool good() const {
        std::size_t seen = 0;
        for (const Check& check : checks_) {
            if (!check.good) return false;
        }
        for (const Finding& finding : findings_) {
            if (finding.verdict.result == ProbeResult::seen) ++seen;
            else if (!finding.expected) return false;
        }
        return seen > 0;
    }

    void print(std::ostream& out) const {
        for (const Check& check : checks_) {
            out << fmt::format("{:<9} {:<4} {}\n", check.name, check.good ? "ok" : "BAD", printable(check.text));
        }
        out << "\n";
        Table table({"STACK", "RESULT", "WHAT TO SET"});
        for (const Finding& finding : findings_) {
            const bool known = finding.expected;
            table.add({finding.stack, std::string(to_word(finding.verdict.result)) + (known ? " (as known)" : ""),
                       finding.advice});
        }
        table.print(out);
        for (const Finding& finding : findings_) {
            if (finding.verdict.detail.empty() || finding.expected) continue;
            out << "  " << finding.stack << " said: " << printable(finding.verdict.detail) << "\n";
        }
        out << (findings_.empty() ? "no HTTP stack was found to try\n" : "") << "\n" << base_url_text();
    }

    json::object view() const {
        json::object view;
        view["ok"] = good();
        view["proxy"] = proxy_;
        json::array checks;
        for (const Check& check : checks_) {
            checks.push_back(json::object{{"name", check.name}, {"ok", check.good}, {"text", check.text}});
        }
        view["checks"] = std::move(checks);
        json::array stacks;
        for (const Finding& finding : findings_) {
            stacks.push_back(json::object{{"stack", finding.stack},
                                          {"seen", finding.verdict.result == ProbeResult::seen},
                                          {"result", json::string(to_word(finding.verdict.result))},
                                          {"expected", finding.expected},
                                          {"advice", finding.advice},
                                          {"detail", finding.verdict.detail}});
        }
        view["stacks"] = std::move(stacks);
        view["base_url"] = "http://" + proxy_ + "/PROVIDER";
        json::object own_ports;
        for (const auto& [name, address] : found_.provider_addresses) own_ports[name] = "http://" + address;
        view["provider_base_urls"] = std::move(own_ports);
        return view;
    }

private:
    Finding finding_of(const Probe& probe, ProbeVerdict verdict) {
        Finding finding;
        finding.stack = probe.stack;
        finding.verdict = std::move(verdict);
        if (finding.verdict.result == ProbeResult::seen) return finding;
        const bool ignores = finding.verdict.result == ProbeResult::ignores;
        finding.advice = probe.advice;
        if (probe.stack == "python-aiohttp") finding.expected = ignores;
        if (probe.command[0] == "node") {
            finding.expected = ignores && !node_heeds_environment(node_version(), probe.stack == "node-fetch");
        }
        if (finding.verdict.result != ProbeResult::refused) return finding;
        finding.advice = "--tenant NAME, for credentials in the proxy's URL";
        if (tenant_.name.empty() || probe.command[0] != "java") return finding;
        finding.expected = true;
        finding.advice = "an Authenticator with the tenant's name and token, or the base URL";
        return finding;
    }

    const std::string& node_version() {
        if (!node_version_) {
            node_version_ = run_captured({"node", "--version"}, environment_with({}), Millis{10'000}, signals_).out;
        }
        return *node_version_;
    }

    std::string without_token(std::string text) const {
        for (const std::string& form : {tenant_.token.reveal(), percent_encoded(tenant_.token.reveal())}) {
            for (auto at = text.find(form); !form.empty() && at != std::string::npos; at = text.find(form)) {
                text.replace(at, form.size(), "(token)");
            }
        }
        return text;
    }

    std::string base_url_text() const {
        std::string text = fmt::format(
            "Clients that no variable can lead: Stripe's SDK for Node (it brings an agent of its own), Stripe's SDK "
            "for\n"
            "Python (it brings its own CA file) and the AWS SDK for JavaScript. Give them this proxy as base URL:\n"
            "http://{}/PROVIDER, where PROVIDER is the name in its profile (`opid policy list`).\n",
            proxy_);
        for (const auto& [name, address] : found_.provider_addresses) {
            text += fmt::format("Where the base URL takes no path, {} is at http://{} too.\n", name, address);
        }
        return text;
    }

    CliHost& host_;
    ClientTenant tenant_;
    CliSettings found_;
    CliTrust trust_;
    SignalWatch& signals_;
    std::string proxy_;
    std::vector<Check> checks_;
    std::vector<Finding> findings_;
    std::optional<std::string> node_version_;
};

}  // namespace

int run_doctor(CliHost& host, const ClientOptions& options, bool json_wanted, std::ostream& out, std::ostream& err) {
    ClientSession session(host, options, err);
    if (const int code = session.enter(); code != exit_ok) return code;
    Doctor doctor(host, session.tenant(), host.settings(options.config, options.data), session.trust(),
                  session.signals());
    doctor.look_around(session.address());
    const int interrupted = doctor.try_stacks(session.environment());
    if (interrupted != 0) return 128 + interrupted;
    if (json_wanted) {
        out << json::serialize(doctor.view()) << "\n";
    } else {
        doctor.print(out);
    }
    return doctor.good() ? exit_ok : exit_problem;
}

}  // namespace opid
