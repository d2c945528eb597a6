#pragma once
// Random bytes from the operating system's generator by way of OpenSSL.
#include "engine/ports/entropy.hpp"

namespace opid {

class SystemEntropy final : public Entropy {
public:
    std::string bytes(std::size_t count) override;
};

}  // namespace opid
