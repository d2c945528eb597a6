#include "surfaces/cli/ca_commands.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <fstream>
#include <optional>

#include "base/time_text.hpp"
#include "surfaces/cli/admin_answer.hpp"
#include "surfaces/cli/cli_output.hpp"
#include "surfaces/cli/file_text.hpp"

namespace opid {
namespace {

namespace json = boost::json;

json::object view_of(const CliTrust& trust) {
    json::object view;
    view["subject"] = trust.subject;
    view["fingerprint"] = trust.fingerprint;
    view["not_before"] = utc_seconds(trust.not_before);
    view["not_after"] = utc_seconds(trust.not_after);
    view["ca"] = trust.ca;
    view["bundle"] = trust.bundle;
    view["truststore"] = trust.truststore;
    return view;
}

void print_view(const json::object& view, std::ostream& out) {
    std::optional<Table> table;
    for (const auto& [name, value] : view) {
        if (!value.is_string()) continue;
        std::vector<std::string> row{std::string(name), std::string(value.as_string())};
        if (table) table->add(std::move(row));
        else table.emplace(std::move(row));
    }
    if (table) table->print(out);
}

}  // namespace

int ca_show(CliHost& host, const std::string& data, bool json_wanted, std::ostream& out, std::ostream& err) {
    const Result<CliTrust> trust = host.trust(data, false);
    if (!trust) return tell_problem(trust.error().what(), exit_problem, err);
    if (json_wanted) {
        out << json::serialize(view_of(*trust)) << "\n";
    } else {
        print_view(view_of(*trust), out);
    }
    return exit_ok;
}

int ca_export(CliHost& host, const std::string& data, const CaExportOptions& options, std::ostream& out,
              std::ostream& err) {
    const Result<CliTrust> trust = host.trust(data, false);
    if (!trust) return tell_problem(trust.error().what(), exit_problem, err);
    const std::string path = options.java ? trust->truststore : options.bundle ? trust->bundle : trust->ca;
    const auto bytes = file_text(path);
    if (!bytes) return tell_problem(path + " can't be read", exit_problem, err);
    if (options.out.empty()) {
        out << *bytes;
        return exit_ok;
    }
    std::ofstream file(options.out, std::ios::binary | std::ios::trunc);
    file << *bytes;
    file.close();
    return file ? exit_ok : tell_problem(options.out + " can't be written", exit_problem, err);
}

int ca_rotate(CliHost& host, const AdminClient& client, const std::string& data, bool json_wanted, std::ostream& out,
              std::ostream& err) {
    const Result<AdminAnswer> answer = client.call("POST", "/v1/ca/rotation", "{}");
    json::object view;
    if (!answer) {
        const Result<CliTrust> trust = host.rotate_trust(data);
        if (!trust) return tell_problem(trust.error().what(), exit_problem, err);
        view = view_of(*trust);
        err << "opid: note: no opid answers at " << client.address()
            << "; one that runs there after all keeps the old CA until it is started again\n";
    } else {
        if (!answer->success()) return tell_refusal(*answer, err);
        boost::system::error_code error;
        json::value body = json::parse(answer->body, error);
        if (error || !body.is_object()) return tell_problem("rotated, but the answer is unreadable", exit_problem, err);
        view = std::move(body.as_object());
    }
    if (json_wanted) {
        out << json::serialize(view) << "\n";
    } else {
        view.erase("pem");
        print_view(view, out);
    }
    err << "opid: note: clients that were given the old CA need the new one: run `opid env` anew, restart long-lived "
           "clients, and install it again where you had installed it\n";
    return exit_ok;
}

}  // namespace opid
