#pragma once
// SHA-256 (FIPS 180-4) over byte strings; the only hash that identity rests on.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace opid {

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view bytes);

// Digest over parts that arrive one by one. finish() may be called once.
class Sha256 {
public:
    Sha256();
    ~Sha256();
    Sha256(Sha256&&) noexcept;
    Sha256& operator=(Sha256&&) noexcept;
    void update(std::string_view bytes);
    Digest finish();

private:
    struct State;
    std::unique_ptr<State> state_;
};

std::string to_hex(const Digest& digest);  // 64 lower-case digits

}  // namespace opid
