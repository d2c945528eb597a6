#include "surfaces/cli/store_commands.hpp"

#include <boost/json.hpp>

#include "core/identity/json_reader.hpp"
#include "surfaces/cli/admin_answer.hpp"
#include "surfaces/cli/cli_output.hpp"

namespace opid {
namespace {

int told(const Result<std::string>& result, std::ostream& out, std::ostream& err) {
    if (!result) return tell_problem(result.error().what(), exit_problem, err);
    out << printable(*result) << "\n";
    return exit_ok;
}

}  // namespace

int store_verify(CliHost& host, const std::string& data, bool json_wanted, std::ostream& out, std::ostream& err) {
    const Result<CliStoreReport> report = host.verify_store(data);
    if (!report) return tell_problem(report.error().what(), exit_problem, err);
    if (json_wanted) {
        boost::json::object result;
        result["sound"] = report->sound;
        for (const auto& [name, count] : report->counts) result[name] = count;
        boost::json::array problems;
        for (const std::string& problem : report->problems) problems.push_back(boost::json::string(problem));
        result["problems"] = std::move(problems);
        out << boost::json::serialize(result) << "\n";
    } else {
        for (const auto& [name, count] : report->counts) out << name << ": " << count << "\n";
        for (const std::string& problem : report->problems) err << printable(problem) << "\n";
        out << (report->sound ? "sound" : "NOT SOUND") << "\n";
    }
    return report->sound ? exit_ok : exit_problem;
}

int store_backup(CliHost& host, const AdminClient& client, const std::string& data, const std::string& folder,
                 std::ostream& out, std::ostream& err) {
    std::string body = "{\"folder\":";
    append_json_string(body, folder);
    const Result<AdminAnswer> answer = client.call("POST", "/v1/store/backup", body + "}");
    if (!answer) return told(host.backup_store(data, folder), out, err);
    if (answer->success()) {
        out << printable(member_of(*answer, "result")) << "\n";
        return exit_ok;
    }
    return tell_refusal(*answer, err);
}

int store_restore(CliHost& host, const std::string& folder, const std::string& data, bool force, std::ostream& out,
                  std::ostream& err) {
    return told(host.restore_store(folder, data, force), out, err);
}

}  // namespace opid
