#pragma once
// `opid ops …`: everything goes through the admin API.
#include <optional>
#include <ostream>
#include <string>

#include "surfaces/cli/admin_client.hpp"

namespace opid {

struct OpsOptions {
    bool json = false;
    std::string id;
    std::string tenant;
    std::string provider;
    std::string status;
    std::string since;
    std::size_t limit = 100;
    // resolve, approve, deny, cancel
    std::string as;
    std::string reason;
    std::string provider_ref;
    std::string digest;  // approve: of what was looked at
    std::string expires_in = "1h";
    std::string scope;
};

class OpsCommands {
public:
    OpsCommands(const AdminClient& client, std::ostream& out, std::ostream& err)
        : client_(client),
          out_(out),
          err_(err) {}

    // Exit codes.
    int list(const OpsOptions& options);
    int show(const OpsOptions& options);
    int watch(const OpsOptions& options);
    int export_all(const OpsOptions& options);  // one JSON object a line, with history
    int resolve(const OpsOptions& options);
    int cancel(const OpsOptions& options);
    int approve(const OpsOptions& options);
    int deny(const OpsOptions& options);

private:
    std::optional<std::string> get(const std::string& target, int& exit_code);
    int post(const OpsOptions& options, const std::string& what, std::string body);

    const AdminClient& client_;
    std::ostream& out_;
    std::ostream& err_;
};

}  // namespace opid
