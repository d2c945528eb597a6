#include "surfaces/cli/client_commands.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstring>

#include "surfaces/cli/cli_output.hpp"
#include "surfaces/cli/client_session.hpp"
#include "surfaces/cli/shell_format.hpp"

namespace opid {
namespace {

void tell_notes(const ClientEnvironment& environment, std::ostream& err) {
    for (const std::string& note : environment.notes) err << "opid: note: " << printable(note) << "\n";
}

// Waits for the command while it passes signals on. What the terminal has sent, the command has got too.
int wait_for(pid_t command, SignalWatch& signals, SharedProxy& proxy) {
    int status = 0;
    while (!reaped(command, status)) {
        const SignalWatch::Signal signal = signals.wait(-1);
        if (signal.number == SIGCHLD) {
            proxy.check();
        } else if (signal.number != 0 && !signal.from_terminal) {
            ::kill(command, signal.number);
        }
    }
    while (signals.take().number != 0) {  // meant for the command; the proxy's drain is not to be cut short by it
    }
    return exit_code_of_status(status);
}

}  // namespace

int print_environment(CliHost& host, const ClientOptions& options, const std::string& format, bool json,
                      std::ostream& out, std::ostream& err) {
    const auto wanted = shell_format_from(format);
    if (!wanted) {
        err << "opid: --format is sh, fish, powershell, dotenv or docker\n";
        return exit_usage;
    }
    const CliSettings found = host.settings(options.config, options.data);
    if (!settings_usable(found, options, err)) return exit_problem;
    if (found.proxy_address.empty()) {
        err << "opid: listen.proxy has port 0, and no opid has run on " << found.data << " yet: start it first\n";
        return exit_no_proxy;
    }
    const Result<ClientTenant> tenant = client_tenant(options, found);
    if (!tenant) return tell_problem(tenant.error().what(), exit_usage, err);
    const Result<CliTrust> trust = client_trust(host, found);
    if (!trust) return tell_problem(trust.error().what(), exit_problem, err);
    const Result<ClientEnvironment> environment = client_setup(host, *trust, *tenant, found.proxy_address);
    if (!environment) return tell_problem(environment.error().what(), exit_problem, err);
    if (json) {
        boost::json::object object;
        for (const auto& [name, value] : environment->variables) object[name] = value;
        out << boost::json::serialize(object) << "\n";
    } else {
        const Result<std::string> text = shell_text(environment->variables, *wanted);
        if (!text) return tell_problem(text.error().what(), exit_problem, err);
        out << *text;
    }
    tell_notes(*environment, err);
    if (*wanted == ShellFormat::docker && !json) {
        err << "opid: note: in a container these need --network host, and ca.pem, bundle.pem, truststore.p12 and "
               "wgetrc of "
            << trust->folder << " mounted at the same paths (never ca.key)\n";
    }
    return exit_ok;
}

int run_client(CliHost& host, const ClientOptions& options, const std::vector<std::string>& command,
               std::ostream& err) {
    if (command.empty()) {
        err << "opid: which command? opid run [OPTION...] -- COMMAND [ARGUMENT...]\n";
        return exit_usage;
    }
    ClientSession session(host, options, err);
    if (const int code = session.enter(); code != exit_ok) return code;
    tell_notes(session.environment(), err);
    err.flush();
    StartOptions start;
    start.command = command;
    start.environment = environment_with(session.environment().variables);
    const Started started = start_program(start);
    if (started.failure != 0) {
        err << "opid: " << printable(command[0]) << ": " << std::strerror(started.failure) << "\n";
        return exit_code_of_failure(started.failure);
    }
    return wait_for(started.pid, session.signals(), session.proxy());
}

RunArguments split_run_arguments(const std::vector<std::string>& arguments, const std::vector<std::string>& valued) {
    RunArguments split;
    std::size_t at = 0;
    while (at < arguments.size() && arguments[at].size() > 1 && arguments[at].front() == '-' && arguments[at] != "--") {
        const bool takes_next = std::find(valued.begin(), valued.end(), arguments[at]) != valued.end();
        split.ours.push_back(arguments[at++]);
        if (takes_next && at < arguments.size()) split.ours.push_back(arguments[at++]);
    }
    if (at < arguments.size() && arguments[at] == "--") ++at;
    split.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at), arguments.end());
    return split;
}

}  // namespace opid
