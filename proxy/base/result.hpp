#pragma once
// Errors as values. Result<T> crosses every boundary; its members are named as in std::expected.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace opid {

// What went wrong, in classes that callers act upon. The text is for people.
enum class ErrorKind : std::uint8_t {
    invalid,  // the input is wrong; the text says what, where and what to do
    not_found,
    conflict,       // a version or an owner did not match: somebody else was first
    unavailable,    // a resource is closed, full or broken; nothing was changed
    indeterminate,  // the change may or may not have happened (a failed sync)
    overloaded,     // a bound was reached; nothing was changed
    timeout,
    internal,
};

class [[nodiscard]] Error {
public:
    Error(ErrorKind kind, std::string what) : kind_(kind), what_(std::move(what)) {}
    ErrorKind kind() const noexcept { return kind_; }
    const std::string& what() const noexcept { return what_; }

private:
    ErrorKind kind_;
    std::string what_;
};

// A value or an Error. Default construction gives a default T, which Asio's awaitables need.
template <class T>
class [[nodiscard]] Result {
public:
    Result() requires std::is_default_constructible_v<T>
    = default;
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }
    T& value() & { return std::get<0>(state_); }
    const T& value() const& { return std::get<0>(state_); }
    T&& value() && { return std::get<0>(std::move(state_)); }
    const Error& error() const& { return std::get<1>(state_); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

private:
    std::variant<T, Error> state_;
};

struct Unit {
    friend bool operator==(const Unit&, const Unit&) = default;
};
using Status = Result<Unit>;  // success carries nothing
inline Status ok() { return Unit{}; }

}  // namespace opid
