#include "surfaces/cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "surfaces/cli/ca_commands.hpp"
#include "surfaces/cli/cli_output.hpp"
#include "surfaces/cli/client_commands.hpp"
#include "surfaces/cli/doctor_command.hpp"
#include "surfaces/cli/file_text.hpp"
#include "surfaces/cli/ops_commands.hpp"
#include "surfaces/cli/policy_commands.hpp"
#include "surfaces/cli/store_commands.hpp"

namespace opid {
namespace {

constexpr const char* footer =
    "Exit codes: 0 done, 1 a problem was found or the request was refused, 2 wrong usage,\n"
    "3 not available in this build, 4 no running opid could be reached (nor, for run and doctor, started).\n"
    "`opid run` gives the exit code of its command: 128 + N after signal N, 127 not found, 126 not executable.\n"
    "`opid doctor`: 0 if a write was seen and none is missing but from clients known to heed no variable, else 1.\n"
    "Commands that talk to a running opid take --admin HOST:PORT and --token TOKEN, or OPID_ADMIN and\n"
    "OPID_ADMIN_TOKEN, or find both through the configuration and <data>/admin.token.";

constexpr const char* run_valued[] = {"--config", "--data", "--tenant", "--tenant-token"};

int not_available(const std::string& name, std::ostream& err) {
    err << "opid: `" << name << "` is not available in this build\n";
    return exit_unavailable;
}

// The options, filled while CLI11 parses, and the command that was chosen.
class CommandLine {
public:
    CommandLine(CliHost& host, std::ostream& out, std::ostream& err) : host_(host), out_(out), err_(err) {
        app_.footer(footer);
        app_.require_subcommand(1);
        app_.set_version_flag("--version", "opid " + std::string(host.version()));
        add_serve();
        add_clients();
        add_ca();
        add_ops();
        add_policy();
        add_store();
        add_tenant();
    }

    int run(int argc, const char* const* argv) {
        std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
        if (!words.empty() && words[0] == "run") {
            RunArguments split = split_run_arguments({words.begin() + 1, words.end()},
                                                     {std::begin(run_valued), std::end(run_valued)});
            words.assign(1, "run");
            words.insert(words.end(), split.ours.begin(), split.ours.end());
            client_command_ = std::move(split.command);
        }
        std::reverse(words.begin(), words.end());  // as CLI11 wants them
        try {
            app_.parse(words);
        } catch (const CLI::ParseError& error) {
            const int code = app_.exit(error, out_, err_);
            return code == 0 ? exit_ok : exit_usage;
        }
        return command_ ? command_() : exit_usage;
    }

private:
    CLI::App* sub(CLI::App& parent, const char* name, const char* help, std::function<int()> command) {
        CLI::App* made = parent.add_subcommand(name, help);
        if (command) made->callback([this, command = std::move(command)] { command_ = command; });
        return made;
    }

    void add_files(CLI::App& app) {
        app.add_option("--config", config_, "Configuration file (default: ./config/opid.yaml, /etc/opid/opid.yaml)");
        app.add_option("--data", data_, "Data folder, in place of the configured one");
    }
    void add_connection(CLI::App& app) {
        add_files(app);
        app.add_option("--admin", admin_, "Admin API of the running opid, HOST:PORT");
        app.add_option("--token", token_, "Its token");
    }
    void add_one(CLI::App& app) {
        add_connection(app);
        app.add_option("ID", ops_.id, "Operation ID")->required();
        app.add_option("--tenant", ops_.tenant, "Where the ID alone is not unique");
        app.add_option("--provider", ops_.provider, "Where the ID alone is not unique");
        app.add_flag("--json", ops_.json, "JSON in place of text");
    }

    void add_serve() {
        CLI::App* serve =
            sub(app_, "serve", "Run the proxy", [this] { return host_.serve(config_, data_, accept_restore_); });
        add_files(*serve);
        serve->add_flag("--accept-restore", accept_restore_,
                        "Once after `store restore`: what began after the backup is not known any more");
        sub(app_, "version", "Print the version", [this] {
            out_ << "opid " << host_.version() << "\n";
            return exit_ok;
        });
    }

    void add_clients() {
        CLI::App* run = sub(app_, "run", "Run a command whose writes go through the proxy",
                            [this] { return run_client(host_, client_, client_command_, err_); });
        CLI::App* env = sub(app_, "env", "Print the variables that lead clients through the proxy",
                            [this] { return print_environment(host_, client_, format_, json_, out_, err_); });
        CLI::App* doctor = sub(app_, "doctor", "Prove that writes from here really pass through the proxy",
                               [this] { return run_doctor(host_, client_, json_, out_, err_); });
        for (CLI::App* app : {run, env, doctor}) {
            app->add_option("--config", client_.config, "Configuration file");
            app->add_option("--data", client_.data, "Data folder, in place of the configured one");
            app->add_option("--tenant", client_.tenant, "Whom the client speaks for");
            app->add_option("--tenant-token", client_.tenant_token,
                            "env:NAME or file:PATH with that tenant's token (default: env:OPID_TENANT_TOKEN)");
        }
        run->add_option("COMMAND", client_command_, "With its arguments; what follows its first word is its own");
        env->add_option("--format", format_, "sh, fish, powershell, dotenv or docker (an --env-file)")
            ->capture_default_str();
        for (CLI::App* app : {env, doctor}) app->add_flag("--json", json_, "JSON in place of text");
    }

    void add_ca() {
        CLI::App* group = sub(app_, "ca", "The certificate authority under which opid reads TLS", {});
        group->require_subcommand(1);
        CLI::App* show = sub(*group, "show", "Subject, fingerprint, validity and files", [this] {
            return with_settings([this](const auto& found) { return ca_show(host_, found.data, json_, out_, err_); });
        });
        add_files(*show);
        CLI::App* exported = sub(
            *group, "export", "The CA's certificate, to install it (default: PEM, to standard output)", [this] {
                return with_settings(
                    [this](const auto& found) { return ca_export(host_, found.data, ca_, out_, err_); });
            });
        add_files(*exported);
        exported->add_flag("--bundle", ca_.bundle, "The system's roots together with it");
        exported->add_flag("--java", ca_.java, "That as a PKCS #12 trust store for Java");
        exported->add_option("--out", ca_.out, "File to write");
        CLI::App* rotate = sub(*group, "rotate", "Put a new CA in its place; clients need the new one", [this] {
            return with_settings([this](const auto& found) {
                return ca_rotate(host_, client_for(found), found.data, json_, out_, err_);
            });
        });
        add_connection(*rotate);
        for (CLI::App* app : {show, rotate}) app->add_flag("--json", json_, "JSON in place of text");
    }

    using OpsCommand = int (OpsCommands::*)(const OpsOptions&);
    CLI::App* ops(CLI::App& parent, const char* name, const char* help, OpsCommand command) {
        return sub(parent, name, help, [this, command] { return with_client(command); });
    }

    void add_ops() {
        CLI::App* group = sub(app_, "ops", "Operations of a running opid", {});
        group->require_subcommand(1);
        CLI::App* list = ops(*group, "list", "List operations, newest first", &OpsCommands::list);
        add_connection(*list);
        list->add_option("--limit", ops_.limit, "How many at most")->check(CLI::Range(1, 1000000));
        CLI::App* exported = ops(*group, "export", "All operations with history, one JSON object a line",
                                 &OpsCommands::export_all);
        add_connection(*exported);
        for (CLI::App* app : {list, exported}) {
            app->add_option("--status", ops_.status, "Only this status, for example needs_review");
            app->add_option("--provider", ops_.provider, "Only this provider");
            app->add_option("--tenant", ops_.tenant, "Only this tenant");
            app->add_option("--since", ops_.since, "Only from this UTC time on, 2026-11-30T10:00:00Z");
            app->add_flag("--json", ops_.json, "JSON in place of text");
        }
        add_one(*ops(*group, "show", "One operation with its attempts and history", &OpsCommands::show));
        CLI::App* watch = ops(*group, "watch", "Print transitions as they become durable", &OpsCommands::watch);
        add_connection(*watch);
        watch->add_option("ID", ops_.id, "Only this operation");
        watch->add_flag("--json", ops_.json, "JSON in place of text");
        add_ops_decisions(*group);
    }

    void add_ops_decisions(CLI::App& group) {
        CLI::App* resolve = ops(group, "resolve", "Settle doubt by your own word", &OpsCommands::resolve);
        add_one(*resolve);
        resolve->add_option("--as", ops_.as, "succeeded, failed, not-executed or cancelled")
            ->required()
            ->check(CLI::IsMember({"succeeded", "failed", "not-executed", "cancelled"}));
        resolve->add_option("--provider-ref", ops_.provider_ref, "The provider's name for the effect");
        CLI::App* cancel = ops(group, "cancel", "Give up an operation that was not sent", &OpsCommands::cancel);
        add_one(*cancel);
        CLI::App* approve = ops(group, "approve", "Approve one operation", &OpsCommands::approve);
        add_one(*approve);
        approve->add_option("--digest", ops_.digest, "Canonical digest of what you approve (see ops show)")->required();
        approve->add_option("--expires-in", ops_.expires_in, "How long it counts")->capture_default_str();
        approve->add_option("--scope", ops_.scope, "What it is for");
        CLI::App* deny = ops(group, "deny", "Deny one operation", &OpsCommands::deny);
        add_one(*deny);
        for (CLI::App* app : {resolve, cancel, deny}) {
            app->add_option("--reason", ops_.reason, "Goes into the history")->required();
        }
    }

    void add_policy() {
        CLI::App* group = sub(app_, "policy", "Provider profiles", {});
        group->require_subcommand(1);
        CLI::App* check = sub(*group, "check", "Check profiles, list every problem", [this] {
            return with_policies([this](const auto& paths) { return policy_check(host_, paths, json_, out_, err_); });
        });
        CLI::App* list = sub(*group, "list", "List profiles", [this] {
            return with_policies([this](const auto& paths) { return policy_list(host_, paths, json_, out_, err_); });
        });
        for (CLI::App* app : {check, list}) {
            app->add_option("PATH", paths_, "Files and folders (default: as configured)");
            app->add_option("--config", config_, "Configuration file");
            app->add_flag("--json", json_, "JSON in place of text");
        }
        CLI::App* explain = sub(*group, "explain", "What opid would do with a request; nothing is sent",
                                [this] { return explain_request(); });
        explain->add_option("METHOD", explain_.method)->required();
        explain->add_option("URL", explain_.url)->required();
        explain->add_option("-H,--header", explain_.headers, "Name: value")
            ->expected(1)
            ->take_all()
            ->check([](const std::string& text) {
                const std::size_t colon = text.find(':');
                const bool named = colon != std::string::npos && colon > 0;
                return named ? std::string() : "'" + text + "' is no header: write 'Name: value'";
            });
        explain->add_option("--body", body_file_, "File with the request body");
        explain->add_option("--policies", paths_, "Files and folders (default: as configured)");
        explain->add_option("--tenant", explain_.tenant, "Whose request")->capture_default_str();
        explain->add_option("--config", config_, "Configuration file");
        explain->add_flag("--json", explain_.json, "JSON in place of text");
    }

    void add_store() {
        CLI::App* group = sub(app_, "store", "The embedded store", {});
        group->require_subcommand(1);
        CLI::App* verify = sub(*group, "verify", "Check every record; opid must not be running", [this] {
            return with_settings(
                [this](const CliSettings& found) { return store_verify(host_, found.data, json_, out_, err_); });
        });
        add_files(*verify);
        verify->add_flag("--json", json_, "JSON in place of text");
        CLI::App* backup = sub(*group, "backup", "A consistent copy into FOLDER, live or not", [this] {
            return with_settings([this](const CliSettings& found) {
                const std::string folder = std::filesystem::absolute(folder_).lexically_normal().string();
                return store_backup(host_, client_for(found), found.data, folder, out_, err_);
            });
        });
        add_connection(*backup);
        backup->add_option("FOLDER", folder_)->required();
        CLI::App* restore = sub(*group, "restore", "Put the latest backup of FOLDER in place; opid must not be running",
                                [this] {
                                    return with_settings([this](const CliSettings& found) {
                                        return store_restore(host_, folder_, found.data, force_, out_, err_);
                                    });
                                });
        add_files(*restore);
        restore->add_option("FOLDER", folder_)->required();
        restore->add_flag("--force", force_, "Although the data folder holds a database");
        absent(*group, "migrate");
    }

    void add_tenant() {
        CLI::App* group = sub(app_, "tenant", "Tenants", {});
        group->require_subcommand(1);
        CLI::App* add = sub(*group, "add", "Make a token and print the line for the configuration",
                            [this] { return add_tenant_line(); });
        add->add_option("NAME", tenant_)->required();
    }

    void absent(CLI::App& parent, const std::string& name) {
        CLI::App* made = parent.add_subcommand(name, "");
        made->group("");  // help doesn't promise it
        made->allow_extras();
        made->callback([this, name] { command_ = [this, name] { return not_available(name, err_); }; });
    }

    template <class Work>
    int with_settings(Work work) {
        const CliSettings found = host_.settings(config_, data_);
        for (const CliProblem& problem : found.problems) err_ << printable(problem.shown) << "\n";
        return found.problems.empty() ? work(found) : exit_problem;
    }

    template <class Work>
    int with_policies(Work work) {
        if (!paths_.empty()) return work(paths_);
        return with_settings([&work](const CliSettings& found) { return work(found.policies); });
    }

    AdminClient client_for(const CliSettings& found) {
        std::string address = admin_.empty() ? environment_variable("OPID_ADMIN") : admin_;
        std::string token = token_.empty() ? environment_variable("OPID_ADMIN_TOKEN") : token_;
        if (address.empty()) address = found.admin_address;
        if (token.empty()) token = file_text(found.data + "/admin.token").value_or("");
        while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
        if (address.starts_with("http://")) address.erase(0, 7);
        while (!address.empty() && address.back() == '/') address.pop_back();
        return {std::move(address), Secret(std::move(token))};
    }

    int with_client(OpsCommand command) {
        return with_settings([this, command](const CliSettings& found) {
            const AdminClient client = client_for(found);
            OpsCommands commands(client, out_, err_);
            return (commands.*command)(ops_);
        });
    }

    int explain_request() {
        if (!body_file_.empty()) {
            const auto body = file_text(body_file_);
            if (!body) {
                err_ << "opid: " << body_file_ << " can't be read\n";
                return exit_usage;
            }
            explain_.body = *body;
        }
        return with_policies([this](const auto& paths) {
            const CliPolicies policies = host_.policies(paths);
            for (const CliProblem& problem : policies.problems) err_ << printable(problem.shown) << "\n";
            return policies.profiles ? policy_explain(*policies.profiles, explain_, out_, err_) : exit_problem;
        });
    }

    int add_tenant_line() {
        std::string variable = "OPID_TOKEN_";
        for (const char c : tenant_) {
            const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
            if (!plain && c != '-' && c != '_' && c != '.') {
                err_ << "opid: a tenant's name has letters, digits, '-', '_' and '.'\n";
                return exit_usage;
            }
            variable += plain ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : '_';
        }
        out_ << "token: " << host_.fresh_token()
             << "\n\nIts owner sends it as `Proxy-Authorization: Bearer TOKEN`. Put it "
             << "into the environment of opid as " << variable << "\nand add to `tenants:` in the configuration:\n"
             << "  - {name: " << tenant_ << ", tokens: [env:" << variable << "]}\n";
        return exit_ok;
    }

    CliHost& host_;
    std::ostream& out_;
    std::ostream& err_;
    CLI::App app_{"opid makes retried writes to other people's APIs safe.", "opid"};
    std::function<int()> command_;
    std::string config_;
    std::string data_;
    std::string admin_;
    std::string token_;
    std::string folder_;
    std::string tenant_;
    std::string body_file_;
    std::vector<std::string> paths_;
    bool json_ = false;
    bool force_ = false;
    bool accept_restore_ = false;
    std::string format_ = "sh";
    std::vector<std::string> client_command_;  // of `run`
    ClientOptions client_;
    CaExportOptions ca_;
    OpsOptions ops_;
    ExplainOptions explain_;
};

}  // namespace

int run_command_line(int argc, const char* const* argv, CliHost& host, std::ostream& out, std::ostream& err) {
    return CommandLine(host, out, err).run(argc, argv);
}

}  // namespace opid
