// Bulk load: tunnels that move bytes down, up or both ways, without end for a time, or a count that both ends compare.
#pragma once

#include "load_plan.hpp"

namespace opid::bench {

// Prints one JSON line like the other modes: "mib_per_s" of both directions together, "answered" in MiB. The status for
// the process: 0, 1 (no tunnel), 3 (bytes were lost or changed).
int move_bulk(const LoadOptions& options);

}  // namespace opid::bench
