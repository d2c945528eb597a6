#include "base/invariant.hpp"

#include <cstdio>
#include <cstdlib>

namespace opid {

void invariant_broken(const char* condition, const char* file, int line) {
    std::fprintf(stderr, "opid: invariant broken: %s (%s:%d)\n", condition, file, line);
    std::abort();
}

}  // namespace opid
