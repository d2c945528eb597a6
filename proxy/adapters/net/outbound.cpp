#include "adapters/net/outbound.hpp"

namespace opid {

Outbound::Outbound(EgressPolicy policy, const OutboundOptions& options)
    : policy_(std::move(policy)),
      resolver_(options.resolver),
      contexts_(options.ca_bundle),
      dialler_(policy_, own_, resolver_, contexts_, options.timeouts) {}

Result<std::unique_ptr<Outbound>> Outbound::make(const OutboundOptions& options) {
    Result<EgressPolicy> policy = EgressPolicy::parse(options.egress);
    if (!policy) return policy.error();
    return std::unique_ptr<Outbound>(new Outbound(std::move(*policy), options));
}

}  // namespace opid
