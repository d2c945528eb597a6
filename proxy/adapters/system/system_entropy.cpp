#include "adapters/system/system_entropy.hpp"

#include <openssl/rand.h>

#include <array>
#include <cstring>

#include "base/invariant.hpp"

namespace opid {

namespace {

// A process without randomness would hand out IDs that collide: it must not go on.
void fill(unsigned char* out, std::size_t count) { OPID_INVARIANT(RAND_bytes(out, static_cast<int>(count)) == 1); }

// A call of the generator costs as much as hundreds of bytes of it.
class Pool {
public:
    void take(char* out, std::size_t count) {
        if (left_ < count) {
            fill(bytes_.data(), bytes_.size());
            left_ = bytes_.size();
        }
        left_ -= count;
        std::memcpy(out, bytes_.data() + left_, count);
        std::memset(bytes_.data() + left_, 0, count);  // nobody gets the same twice
    }

private:
    std::array<unsigned char, 1024> bytes_{};
    std::size_t left_ = 0;
};

constexpr std::size_t pooled_max = 64;

}  // namespace

std::string SystemEntropy::bytes(std::size_t count) {
    thread_local Pool pool;
    std::string out(count, '\0');
    if (count <= pooled_max) {
        pool.take(out.data(), count);
    } else {
        fill(reinterpret_cast<unsigned char*>(out.data()), count);
    }
    return out;
}

}  // namespace opid
