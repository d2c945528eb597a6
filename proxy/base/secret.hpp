#pragma once
// A credential. No stream, formatter or JSON writer accepts it; reveal() is the one way out.
#include <ostream>
#include <string>
#include <utility>

namespace opid {

class Secret {
public:
    Secret() = default;
    explicit Secret(std::string value) : value_(std::move(value)) {}
    const std::string& reveal() const noexcept { return value_; }
    bool empty() const noexcept { return value_.empty(); }
    friend std::ostream& operator<<(std::ostream&, const Secret&) = delete;

private:
    std::string value_;
};

}  // namespace opid
