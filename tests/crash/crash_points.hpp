#pragma once
// Named points at which the process ends itself, as by a power cut.
#include <ostream>
#include <string_view>

namespace opid::test {

// OPID_CRASH_AT=POINT:N ends the process with SIGKILL when POINT is passed for the N-th time. Thread-safe.
void pass(std::string_view point);

void list_points(std::ostream& out);  // one a line

}  // namespace opid::test
