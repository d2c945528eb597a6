#pragma once
// Ports that pass the crash points, and a store that fails while a file says so: OPID_STORE_FAULT_FILE names it; `down`
// in it refuses commits, `hangs` holds them until the file changes.
#include <memory>
#include <string>

#include "adapters/http/data_plane.hpp"
#include "engine/ports/operation_store.hpp"
#include "engine/ports/timers.hpp"
#include "engine/ports/upstream.hpp"

namespace opid::test {

std::unique_ptr<OperationStore> faulty_store(OperationStore& inner, Timers& timers, std::string fault_file);
std::unique_ptr<Upstream> crashing_upstream(Upstream& inner);
GuardedHandler crashing_handler(GuardedHandler inner);

}  // namespace opid::test
