#pragma once
// `opid ca …`: the certificate authority under which opid reads TLS, and the files that make clients trust it.
#include <ostream>
#include <string>

#include "surfaces/cli/admin_client.hpp"
#include "surfaces/cli/cli_host.hpp"

namespace opid {

struct CaExportOptions {
    bool bundle = false;  // the system's roots and ours, PEM
    bool java = false;    // PKCS #12 trust store
    std::string out;      // empty: standard output
};

// Both make the CA when there is none yet, so that it can be installed before the first start.
int ca_show(CliHost& host, const std::string& data, bool json, std::ostream& out, std::ostream& err);
int ca_export(CliHost& host, const std::string& data, const CaExportOptions& options, std::ostream& out,
              std::ostream& err);
// Through the running opid where one answers, else in the files alone.
int ca_rotate(CliHost& host, const AdminClient& client, const std::string& data, bool json, std::ostream& out,
              std::ostream& err);

}  // namespace opid
