#pragma once
// `opid env` and `opid run`.
#include <ostream>
#include <string>
#include <vector>

#include "surfaces/cli/cli_host.hpp"
#include "surfaces/cli/client_setup.hpp"

namespace opid {

// Prints the variables in a format of shell_format.hpp, or as one JSON object.
int print_environment(CliHost& host, const ClientOptions& options, const std::string& format, bool json,
                      std::ostream& out, std::ostream& err);

// Runs the command under these variables, with our input and output. Its exit code: 128 + n for a signal, 127 and 126
// where it could not be started; else ours.
int run_client(CliHost& host, const ClientOptions& options, const std::vector<std::string>& command, std::ostream& err);

// `opid run [OPTION...] [--] COMMAND...` cut in two: up to the command, and the command. All that follows its first
// word is the command's own. valued: the options that take the next word as their value.
struct RunArguments {
    std::vector<std::string> ours;
    std::vector<std::string> command;
};
RunArguments split_run_arguments(const std::vector<std::string>& arguments, const std::vector<std::string>& valued);

}  // namespace opid
