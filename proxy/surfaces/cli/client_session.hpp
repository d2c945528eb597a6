#pragma once
// What `opid run` and `opid doctor` stand on: a proxy that is there for as long as this lives, and the variables that
// lead a client through it.
#include <optional>
#include <ostream>
#include <string>

#include "surfaces/cli/child_process.hpp"
#include "surfaces/cli/client_setup.hpp"
#include "surfaces/cli/shared_proxy.hpp"

namespace opid {

class ClientSession {
public:
    ClientSession(CliHost& host, const ClientOptions& options, std::ostream& err)
        : host_(host),
          options_(options),
          err_(err) {}

    // Once. exit_ok; else what the command ends with, and people are told why. What follows is there on success.
    int enter();

    SignalWatch& signals() { return *signals_; }
    SharedProxy& proxy() { return *proxy_; }
    const ClientTenant& tenant() const { return tenant_; }
    const CliTrust& trust() const { return trust_; }
    const std::string& address() const { return address_; }
    const ClientEnvironment& environment() const { return environment_; }

private:
    CliHost& host_;
    const ClientOptions& options_;
    std::ostream& err_;
    ClientTenant tenant_;
    CliTrust trust_;
    std::optional<SignalWatch> signals_;
    std::optional<SharedProxy> proxy_;  // after signals_, which it uses until it is gone
    std::string address_;
    ClientEnvironment environment_;
};

}  // namespace opid
