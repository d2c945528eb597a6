#pragma once
// An IPv4 or IPv6 address as a value. Text forms are strict here (dotted quad, RFC 4291); the lax IPv4 spellings
// that resolvers understand are read by parse_lax_ipv4, so that policy sees the address behind them.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace opid::http {

class IpAddress {
public:
    using V4 = std::array<std::uint8_t, 4>;
    using V6 = std::array<std::uint8_t, 16>;

    IpAddress() = default;  // 0.0.0.0
    explicit IpAddress(const V4& bytes);
    explicit IpAddress(const V6& bytes) : bytes_(bytes), v4_(false) {}

    bool is_v4() const { return v4_; }
    const V6& bytes() const { return bytes_; }  // v4: the first four count, the rest is zero
    std::string to_string() const;              // RFC 5952
    friend bool operator==(const IpAddress&, const IpAddress&) = default;

private:
    V6 bytes_{};
    bool v4_ = true;
};

// Without brackets and without zone id.
std::optional<IpAddress> parse_ip(std::string_view text);
// One to four parts, decimal, octal (leading 0) or hexadecimal (0x), the last one filling the rest, as inet_aton.
std::optional<IpAddress> parse_lax_ipv4(std::string_view text);

}  // namespace opid::http
