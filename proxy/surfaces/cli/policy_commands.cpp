#include "surfaces/cli/policy_commands.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "surfaces/cli/cli_output.hpp"

namespace opid {
namespace {

namespace json = boost::json;

json::array problems_json(const std::vector<CliProblem>& problems) {
    json::array list;
    for (const CliProblem& problem : problems) {
        json::object out;
        out["file"] = problem.file;
        out["line"] = problem.line;
        out["column"] = problem.column;
        out["path"] = problem.path;
        out["text"] = problem.text;
        out["hint"] = problem.hint;
        list.push_back(std::move(out));
    }
    return list;
}

json::object profile_json(const Profile& profile) {
    json::object out;
    out["provider"] = profile.provider;
    json::array hosts;
    for (const std::string& name : profile.hosts) hosts.push_back(json::string(name));
    out["hosts"] = std::move(hosts);
    out["upstream"] = profile.upstream_scheme + "://" + profile.upstream_authority + profile.upstream_base_path;
    out["rules"] = profile.rules.size();
    out["verified"] = profile.verified;
    out["digest"] = profile.digest;
    out["file"] = profile.file;
    return out;
}

std::string hosts_text(const Profile& profile) {
    std::string text;
    for (const std::string& name : profile.hosts) text += (text.empty() ? "" : " ") + name;
    return text;
}

}  // namespace

int policy_check(CliHost& host, const std::vector<std::string>& paths, bool json_wanted, std::ostream& out,
                 std::ostream& err) {
    const CliPolicies policies = host.policies(paths);
    if (json_wanted) {
        json::object result;
        result["ok"] = policies.problems.empty();
        result["profiles"] = policies.profiles ? policies.profiles->all().size() : 0;
        result["problems"] = problems_json(policies.problems);
        json::array warnings;
        for (const std::string& warning : policies.warnings) warnings.push_back(json::string(warning));
        result["warnings"] = std::move(warnings);
        out << json::serialize(result) << "\n";
    } else {
        for (const CliProblem& problem : policies.problems) err << printable(problem.shown) << "\n";
        for (const std::string& warning : policies.warnings) err << "note: " << printable(warning) << "\n";
        if (policies.problems.empty()) out << policies.profiles->all().size() << " profiles, no problems\n";
    }
    return policies.problems.empty() ? exit_ok : exit_problem;
}

int policy_list(CliHost& host, const std::vector<std::string>& paths, bool json_wanted, std::ostream& out,
                std::ostream& err) {
    const CliPolicies policies = host.policies(paths);
    for (const CliProblem& problem : policies.problems) err << printable(problem.shown) << "\n";
    if (!policies.profiles) return exit_problem;
    json::array list;
    Table table({"PROVIDER", "HOSTS", "RULES", "TRUST", "FILE"});
    for (const ProfilePtr& profile : policies.profiles->all()) {
        if (json_wanted) {
            list.push_back(profile_json(*profile));
            continue;
        }
        table.add({profile->provider, hosts_text(*profile), std::to_string(profile->rules.size()),
                   profile->verified ? "verified" : "unverified", profile->file});
    }
    if (json_wanted) {
        out << json::serialize(list) << "\n";
    } else {
        table.print(out);
    }
    return exit_ok;
}

}  // namespace opid
