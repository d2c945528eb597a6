#pragma once
// Everything that outgoing connections share, in one place: built once, before any thread.
#include <memory>
#include <string>

#include "adapters/net/dialler.hpp"

namespace opid {

struct OutboundOptions {
    EgressRules egress;
    DialTimeouts timeouts;
    ResolverOptions resolver;
    std::string ca_bundle;  // PEM file in place of the system's roots; empty: the system's
};

class Outbound {
public:
    static Result<std::unique_ptr<Outbound>> make(const OutboundOptions& options);

    OwnEndpoints& own_endpoints() { return own_; }
    const EgressPolicy& policy() const { return policy_; }
    const Dialler& dialler() const { return dialler_; }
    void profiles_changed() { contexts_.forget(); }  // certificates and CAs are read again

private:
    Outbound(EgressPolicy policy, const OutboundOptions& options);
    EgressPolicy policy_;
    OwnEndpoints own_;
    Resolver resolver_;
    TlsContexts contexts_;
    Dialler dialler_;
};

}  // namespace opid
