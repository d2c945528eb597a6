#include "surfaces/cli/ops_commands.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "core/identity/form_fields.hpp"
#include "core/identity/json_reader.hpp"
#include "surfaces/cli/admin_answer.hpp"
#include "surfaces/cli/cli_host.hpp"
#include "surfaces/cli/cli_output.hpp"

namespace opid {
namespace {

namespace json = boost::json;

std::string quoted(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

// The value as a cell; nothing for null and what is not there.
std::string cell(const json::object& object, std::string_view name) {
    const json::value* value = object.if_contains(name);
    if (value == nullptr || value->is_null()) return "";
    if (value->is_string()) return std::string(value->as_string());
    return json::serialize(*value);
}

json::object object_from(const std::string& text) {
    boost::system::error_code error;
    json::value value = json::parse(text, error);
    return !error && value.is_object() ? std::move(value.as_object()) : json::object();
}

std::string query_of(const OpsOptions& options) {
    std::string query;
    const auto add = [&query](std::string_view name, const std::string& value) {
        if (!value.empty()) query += fmt::format("{}{}={}", query.empty() ? "?" : "&", name, percent_encoded(value));
    };
    add("tenant", options.tenant);
    add("provider", options.provider);
    return query;
}

std::string path_of(const OpsOptions& options, std::string_view what) {
    return fmt::format("/v1/operations/{}{}{}", percent_encoded(options.id), what, query_of(options));
}

std::string list_target(const OpsOptions& options, const std::string& cursor, std::size_t limit) {
    std::string target = "/v1/operations" + query_of(options);
    target += fmt::format("{}limit={}", target.find('?') == std::string::npos ? "?" : "&", limit);
    if (!options.status.empty()) target += "&status=" + percent_encoded(options.status);
    if (!options.since.empty()) target += "&since=" + percent_encoded(options.since);
    if (!cursor.empty()) target += "&cursor=" + percent_encoded(cursor);
    return target;
}

void print_attempts(std::ostream& out, const json::object& operation) {
    const json::value* attempts = operation.if_contains("attempts");
    if (attempts == nullptr || !attempts->is_array() || attempts->as_array().empty()) return;
    Table table({"ATTEMPT", "KIND", "STARTED", "ENDED", "STATUS", "VERDICT", "STAGE", "FAILURE"});
    for (const json::value& value : attempts->as_array()) {
        if (!value.is_object()) continue;
        const json::object& attempt = value.as_object();
        const json::value* evidence = attempt.if_contains("evidence");
        const json::object known = evidence != nullptr && evidence->is_object() ? evidence->as_object()
                                                                                : json::object();
        table.add({cell(attempt, "id"), cell(attempt, "kind"), cell(attempt, "started"), cell(attempt, "ended"),
                   cell(attempt, "http_status"), cell(attempt, "verdict"), cell(known, "stage"),
                   cell(known, "failure")});
    }
    out << "\n";
    table.print(out);
}

}  // namespace

std::optional<std::string> OpsCommands::get(const std::string& target, int& exit_code) {
    Result<AdminAnswer> answer = client_.call("GET", target);
    if (!answer) {
        err_ << "opid: " << answer.error().what() << "\n";
        exit_code = exit_no_proxy;
        return std::nullopt;
    }
    if (!answer->success()) {
        exit_code = tell_refusal(*answer, err_);
        return std::nullopt;
    }
    return std::move(answer->body);
}

int OpsCommands::list(const OpsOptions& options) {
    int exit_code = exit_ok;
    Table table({"ID", "TENANT", "PROVIDER", "RULE", "STATUS", "SENDS", "UPDATED"});
    std::string cursor;
    json::array all;
    do {
        const auto body = get(list_target(options, cursor, std::min<std::size_t>(500, options.limit - all.size())),
                              exit_code);
        if (!body) return exit_code;
        json::object page = object_from(*body);
        if (json::value* operations = page.if_contains("operations"); operations != nullptr && operations->is_array()) {
            for (json::value& value : operations->as_array()) all.push_back(std::move(value));
        }
        cursor = cell(page, "cursor");
    } while (!cursor.empty() && all.size() < options.limit);
    if (options.json) {
        out_ << json::serialize(all) << "\n";
        return exit_ok;
    }
    for (const json::value& value : all) {
        const json::object& operation = value.as_object();
        table.add({cell(operation, "id"), cell(operation, "tenant"), cell(operation, "provider"),
                   cell(operation, "rule"), cell(operation, "status"), cell(operation, "sends"),
                   cell(operation, "updated")});
    }
    table.print(out_);
    if (!cursor.empty()) out_ << "… more: raise --limit\n";
    return exit_ok;
}

int OpsCommands::show(const OpsOptions& options) {
    int exit_code = exit_ok;
    const auto body = get(path_of(options, ""), exit_code);
    if (!body) return exit_code;
    if (options.json) {
        out_ << *body << "\n";
        return exit_ok;
    }
    const json::object operation = object_from(*body);
    Table table({"id", cell(operation, "id")});
    for (const char* name : {"tenant", "provider", "rule", "status", "digest", "provider_key", "provider_ref",
                             "next_step", "approval", "created", "updated"}) {
        table.add({name, cell(operation, name)});
    }
    const json::value* intent = operation.if_contains("intent");
    if (intent != nullptr && intent->is_object()) {
        const json::object& known = intent->as_object();
        table.add({"request", cell(known, "method") + " " + cell(known, "authority") + cell(known, "target")});
    }
    table.print(out_);
    print_attempts(out_, operation);
    const auto history = get(path_of(options, "/history"), exit_code);
    if (!history) return exit_code;
    const json::object events = object_from(*history);
    Table lines({"AT", "WHAT", "FROM", "TO", "ACTOR", "DETAIL"});
    if (const json::value* list = events.if_contains("events"); list != nullptr && list->is_array()) {
        for (const json::value& value : list->as_array()) {
            const json::object& event = value.as_object();
            lines.add({cell(event, "at"), cell(event, "what"), cell(event, "from"), cell(event, "to"),
                       cell(event, "actor"), cell(event, "detail")});
        }
    }
    out_ << "\n";
    lines.print(out_);
    return exit_ok;
}

int OpsCommands::watch(const OpsOptions& options) {
    const auto take = [this, &options](std::string_view data) {
        const json::object event = object_from(std::string(data));
        if (!options.id.empty() && cell(event, "operation_id") != options.id) return true;
        if (options.json) {
            out_ << data << std::endl;
        } else if (cell(event, "kind") == "operation") {
            out_ << printable(fmt::format("{}  {}  {}  {} -> {}  ({} by {})", cell(event, "at"),
                                          cell(event, "operation_id"), cell(event, "provider"), cell(event, "from"),
                                          cell(event, "to"), cell(event, "what"), cell(event, "actor")))
                 << std::endl;
        } else {
            out_ << printable(fmt::format("trouble: {}: {}", cell(event, "where"), cell(event, "what"))) << std::endl;
        }
        return true;
    };
    const Result<AdminAnswer> answer = client_.events(take);
    if (!answer) {
        err_ << "opid: " << answer.error().what() << "\n";
        return exit_no_proxy;
    }
    return answer->success() ? exit_ok : tell_refusal(*answer, err_);
}

int OpsCommands::export_all(const OpsOptions& options) {
    int exit_code = exit_ok;
    std::string cursor;
    do {
        const auto body = get(list_target(options, cursor, 200), exit_code);
        if (!body) return exit_code;
        const json::object page = object_from(*body);
        const json::value* operations = page.if_contains("operations");
        if (operations == nullptr || !operations->is_array()) return exit_problem;
        for (const json::value& value : operations->as_array()) {
            OpsOptions one;
            one.id = cell(value.as_object(), "id");
            one.tenant = cell(value.as_object(), "tenant");
            one.provider = cell(value.as_object(), "provider");
            const auto operation = get(path_of(one, ""), exit_code);
            const auto history = operation ? get(path_of(one, "/history"), exit_code) : std::nullopt;
            if (!history) return exit_code;
            out_ << "{\"operation\":" << *operation << ",\"history\":" << *history << "}\n";
        }
        cursor = cell(page, "cursor");
    } while (!cursor.empty());
    return exit_ok;
}

int OpsCommands::post(const OpsOptions& options, const std::string& what, std::string body) {
    const Result<AdminAnswer> answer = client_.call("POST", path_of(options, what), std::move(body));
    if (!answer) {
        err_ << "opid: " << answer.error().what() << "\n";
        return exit_no_proxy;
    }
    if (!answer->success()) return tell_refusal(*answer, err_);
    if (options.json) {
        out_ << answer->body << "\n";
    } else {
        const json::object operation = object_from(answer->body);
        out_ << printable(cell(operation, "id")) << " is " << cell(operation, "status") << " now\n";
    }
    return exit_ok;
}

int OpsCommands::resolve(const OpsOptions& options) {
    std::string body = "{\"as\":" + quoted(options.as) + ",\"reason\":" + quoted(options.reason);
    if (!options.provider_ref.empty()) body += ",\"provider_ref\":" + quoted(options.provider_ref);
    return post(options, "/resolution", body + "}");
}

int OpsCommands::cancel(const OpsOptions& options) {
    return post(options, "/cancellation", "{\"reason\":" + quoted(options.reason) + "}");
}

int OpsCommands::deny(const OpsOptions& options) {
    return post(options, "/denial", "{\"reason\":" + quoted(options.reason) + "}");
}

int OpsCommands::approve(const OpsOptions& options) {
    std::string body = "{\"digest\":" + quoted(options.digest) + ",\"expires_in\":" + quoted(options.expires_in);
    if (!options.scope.empty()) body += ",\"scope\":" + quoted(options.scope);
    return post(options, "/approval", body + "}");
}

}  // namespace opid
