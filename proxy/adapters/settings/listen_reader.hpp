#pragma once
// The addresses that opid listens at, and who may be let near them.
#include "adapters/settings/map_reader.hpp"
#include "adapters/settings/settings.hpp"

namespace opid {

void read_listen(MapReader& root, ListenSettings& out);

// Whoever reaches the proxy may use credentials that it injects, and read what others were answered: a bind beyond
// loopback needs tenants. To be called when these have been read.
void check_open_bind(MapReader& root, const Settings& settings);

}  // namespace opid
