#pragma once
// The machine behind the commands: configuration, profiles, stores, the server.
#include <ostream>

#include "adapters/system/system_entropy.hpp"
#include "app/application_hooks.hpp"
#include "surfaces/cli/cli_host.hpp"

namespace opid {

class CommandHost final : public CliHost {
public:
    CommandHost(ApplicationHooks hooks, std::ostream& out, std::ostream& err)
        : hooks_(std::move(hooks)),
          out_(out),
          err_(err) {}

    int serve(const std::string& config, const std::string& data, bool accept_restore) override;
    CliSettings settings(const std::string& config, const std::string& data) override;
    CliPolicies policies(const std::vector<std::string>& paths) override;
    Result<CliStoreReport> verify_store(const std::string& data) override;
    Result<std::string> backup_store(const std::string& data, const std::string& folder) override;
    Result<std::string> restore_store(const std::string& folder, const std::string& data, bool force) override;
    Result<CliTrust> trust(const std::string& data, bool refresh_bundle) override;
    Result<CliTrust> rotate_trust(const std::string& data) override;
    Status replace_file(const std::string& path, std::string_view text) override;
    std::string fresh_token() override;
    std::string_view version() const override;

private:
    ApplicationHooks hooks_;
    std::ostream& out_;
    std::ostream& err_;
    SystemEntropy entropy_;
};

}  // namespace opid
