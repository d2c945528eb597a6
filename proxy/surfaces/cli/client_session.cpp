#include "surfaces/cli/client_session.hpp"

#include <utility>

#include "surfaces/cli/cli_output.hpp"

namespace opid {

int ClientSession::enter() {
    const CliSettings found = host_.settings(options_.config, options_.data);
    if (!settings_usable(found, options_, err_)) return exit_problem;
    Result<ClientTenant> tenant = client_tenant(options_, found);
    if (!tenant) return tell_problem(tenant.error().what(), exit_usage, err_);
    tenant_ = std::move(*tenant);
    Result<CliTrust> trust = client_trust(host_, found);
    if (!trust) return tell_problem(trust.error().what(), exit_problem, err_);
    trust_ = std::move(*trust);
    signals_.emplace();
    proxy_.emplace(host_, options_.config, options_.data, *signals_, err_);
    Result<std::string> address = proxy_->enter(found);
    if (!address) {
        if (proxy_->interrupted() != 0) return 128 + proxy_->interrupted();
        return tell_problem(address.error().what(), exit_no_proxy, err_);
    }
    address_ = std::move(*address);
    Result<ClientEnvironment> environment = client_setup(host_, trust_, tenant_, address_);
    if (!environment) return tell_problem(environment.error().what(), exit_problem, err_);
    environment_ = std::move(*environment);
    return exit_ok;
}

}  // namespace opid
