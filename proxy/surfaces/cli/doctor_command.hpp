#pragma once
// `opid doctor`: proves that writes from here pass through the proxy.
#include <ostream>

#include "surfaces/cli/cli_host.hpp"
#include "surfaces/cli/client_setup.hpp"

namespace opid {

// Finds or starts a proxy and lets every HTTP stack on this machine send one write under the variables of `opid env`.
// exit_ok: at least one was seen, and those that were not are known to heed no variable; else exit_problem.
int run_doctor(CliHost& host, const ClientOptions& options, bool json, std::ostream& out, std::ostream& err);

}  // namespace opid
