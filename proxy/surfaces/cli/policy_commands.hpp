#pragma once
// `opid policy …`: without a running proxy.
#include <ostream>
#include <string>
#include <vector>

#include "surfaces/cli/cli_host.hpp"

namespace opid {

struct ExplainOptions {
    std::string method;
    std::string url;
    std::vector<std::string> headers;  // "Name: value"
    std::string body;                  // bytes
    std::string tenant = "default";
    bool json = false;
};

int policy_check(CliHost& host, const std::vector<std::string>& paths, bool json, std::ostream& out, std::ostream& err);
int policy_list(CliHost& host, const std::vector<std::string>& paths, bool json, std::ostream& out, std::ostream& err);
int policy_explain(const ProfileSet& profiles, const ExplainOptions& options, std::ostream& out, std::ostream& err);

}  // namespace opid
