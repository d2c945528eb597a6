#pragma once
// `opid COMMAND …`: reads the arguments, runs the command, gives the exit code.
#include <ostream>

#include "surfaces/cli/cli_host.hpp"

namespace opid {

int run_command_line(int argc, const char* const* argv, CliHost& host, std::ostream& out, std::ostream& err);

}  // namespace opid
