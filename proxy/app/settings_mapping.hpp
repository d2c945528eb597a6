#pragma once
// From the configuration to what each part is told: the one place where settings turn into options.
#include <vector>

#include "adapters/http/data_plane_options.hpp"
#include "adapters/net/outbound.hpp"
#include "adapters/settings/settings.hpp"
#include "adapters/store/rocksdb/rocks_store.hpp"
#include "adapters/telemetry/log.hpp"
#include "base/result.hpp"
#include "engine/write_coordinator.hpp"
#include "surfaces/admin/admin_auth.hpp"
#include "surfaces/admin/admin_server.hpp"

namespace opid {

LogOptions log_options(const Settings& settings);
EngineLimits engine_limits(const Settings& settings);
http::HeadLimits head_limits(const Settings& settings);
OutboundOptions outbound_options(const Settings& settings);
RocksOptions rocks_options(const Settings& settings, const std::string& node, const Timers& timers);
// Error (invalid): an address that is no IP address.
Result<DataPlaneOptions> data_plane_options(const Settings& settings);
AdminServerOptions admin_server_options(const Settings& settings);
std::vector<AdminIdentity> admin_identities(const Settings& settings, const Secret& file_token);
std::vector<std::string> tenant_names(const Settings& settings);  // "default" where none is listed

}  // namespace opid
