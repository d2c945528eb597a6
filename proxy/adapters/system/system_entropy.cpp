#include "adapters/system/system_entropy.hpp"

#include <openssl/rand.h>

#include "base/invariant.hpp"

namespace opid {

std::string SystemEntropy::bytes(std::size_t count) {
    std::string out(count, '\0');
    // A process without randomness would hand out IDs that collide: it must not go on.
    OPID_INVARIANT(RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(count)) == 1);
    return out;
}

}  // namespace opid
