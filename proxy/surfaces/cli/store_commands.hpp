#pragma once
// `opid store …`.
#include <ostream>
#include <string>

#include "surfaces/cli/admin_client.hpp"
#include "surfaces/cli/cli_host.hpp"

namespace opid {

int store_verify(CliHost& host, const std::string& data, bool json, std::ostream& out, std::ostream& err);
// Through the running opid where one answers, else straight from the files.
int store_backup(CliHost& host, const AdminClient& client, const std::string& data, const std::string& folder,
                 std::ostream& out, std::ostream& err);
int store_restore(CliHost& host, const std::string& folder, const std::string& data, bool force, std::ostream& out,
                  std::ostream& err);

}  // namespace opid
