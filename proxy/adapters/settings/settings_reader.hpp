#pragma once
// The whole of opid.yaml, section by section.
#include "adapters/settings/map_reader.hpp"
#include "adapters/settings/settings.hpp"

namespace opid {

// Adds problems to the reading of `root`; what is in `out` is only of use when there were none.
void read_settings(MapReader& root, Settings& out);

}  // namespace opid
