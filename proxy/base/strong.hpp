#pragma once
// Meaning in the type: a value that only mixes with its own kind.
#include <compare>
#include <functional>
#include <utility>

namespace opid {

template <class Tag, class T>
class Strong {
public:
    using value_type = T;
    Strong() = default;
    explicit Strong(T value) : value_(std::move(value)) {}
    const T& value() const noexcept { return value_; }
    friend auto operator<=>(const Strong&, const Strong&) = default;

private:
    T value_{};
};

}  // namespace opid

template <class Tag, class T>
struct std::hash<opid::Strong<Tag, T>> {
    std::size_t operator()(const opid::Strong<Tag, T>& strong) const { return std::hash<T>{}(strong.value()); }
};
