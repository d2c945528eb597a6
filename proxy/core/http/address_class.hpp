#pragma once
// What kind of place an address is, for egress policy. Forms that carry an IPv4 address inside an IPv6 one (mapped,
// compatible, NAT64, 6to4, Teredo) are judged by the address inside.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/http/ip_address.hpp"

namespace opid::http {

enum class AddressClass : std::uint8_t {
    public_address,
    unspecified,  // 0.0.0.0/8, ::
    loopback,
    link_local,
    private_use,  // RFC 1918, fc00::/7, fec0::/10
    cgnat,        // 100.64.0.0/10
    metadata,     // cloud metadata services
    multicast,
    broadcast,
    reserved,  // protocol assignments, benchmarks, documentation, 240.0.0.0/4, discard, …
};

AddressClass classify(const IpAddress& address);
std::string_view to_string(AddressClass kind);

// True for everything the egress class `private` stands for: all but public_address and metadata.
bool is_private(AddressClass kind);

// The IPv4 address inside a mapped, compatible, NAT64, 6to4 or Teredo address.
std::optional<IpAddress> embedded_ipv4(const IpAddress& address);

// Names of cloud metadata services, canonical host as in Authority.
bool is_metadata_name(std::string_view host);

class Cidr {
public:
    // `10.0.0.0/8`, `fd00::/8`, or a single address. Host bits must be zero.
    static std::optional<Cidr> parse(std::string_view text);
    bool contains(const IpAddress& address) const;  // an IPv4 block also holds its IPv4-mapped addresses
    std::string to_string() const;
    friend bool operator==(const Cidr&, const Cidr&) = default;

private:
    Cidr(const IpAddress& base, unsigned bits) : base_(base), bits_(bits) {}
    IpAddress base_;
    unsigned bits_ = 0;
};

}  // namespace opid::http
