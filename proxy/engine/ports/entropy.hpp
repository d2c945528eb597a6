#pragma once
// Randomness for attempt and operation IDs.
#include <string>

namespace opid {

class Entropy {
public:
    virtual ~Entropy() = default;
    virtual std::string bytes(std::size_t count) = 0;  // thread-safe
};

}  // namespace opid
