#pragma once
// From the machine to the variables that lead a client through the proxy: the CA's files, a tenant's token, the
// caller's own environment.
#include <ostream>
#include <string>

#include "surfaces/cli/cli_host.hpp"
#include "surfaces/cli/client_environment.hpp"

namespace opid {

struct ClientOptions {
    std::string config;
    std::string data;
    std::string tenant;
    std::string tenant_token;  // env:NAME or file:PATH; empty: env:OPID_TENANT_TOKEN
};

// The tenant whom the client speaks for; without --tenant nobody. An error's text says what to do, never the token.
struct ClientTenant {
    std::string name;
    Secret token;
};
Result<ClientTenant> client_tenant(const ClientOptions& options, const CliSettings& found);

// The CA and its files, made where they are missing.
Result<CliTrust> client_trust(CliHost& host, const CliSettings& found);

// The variables for a proxy at `proxy`; writes <data>/ca/wgetrc.
Result<ClientEnvironment> client_setup(CliHost& host, const CliTrust& trust, const ClientTenant& tenant,
                                       const std::string& proxy);

// Problems of the configuration, or a note that callers without a tenant will be refused. False: don't go on.
bool settings_usable(const CliSettings& found, const ClientOptions& options, std::ostream& err);

}  // namespace opid
