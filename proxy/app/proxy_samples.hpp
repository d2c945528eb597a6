#pragma once
// Counters of the data plane, the store and the engine as metric samples.
#include <vector>

#include "adapters/http/metrics.hpp"
#include "adapters/http/upstream_client.hpp"
#include "adapters/telemetry/metrics.hpp"
#include "adapters/tls/interceptor.hpp"
#include "engine/ports/operation_store.hpp"

namespace opid {

std::vector<MetricSample> data_plane_samples(const std::vector<const DataPlaneMetrics*>& threads);
std::vector<MetricSample> guarded_upstream_samples(const UpstreamClient::Counts& counts);
std::vector<MetricSample> interception_samples(const InterceptorCounts& counts);
std::vector<MetricSample> store_samples(const StoreHealth& health);
MetricSample gauge(std::string name, std::string help, double value);

}  // namespace opid
