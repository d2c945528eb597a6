#pragma once
// host[:port] of a target, a Host field or the configuration, in one canonical spelling, so that policy and routing
// see one name for one place: lower case, no trailing dot, IPv4 as dotted quad whatever its spelling, IPv6 as RFC 5952.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/http/ip_address.hpp"

namespace opid::http {

struct Authority {
    std::string host;             // canonical; IPv6 without brackets
    std::uint16_t port = 0;       // 0 only if the text had none and no default was given
    bool port_given = false;      // the text named a port
    std::optional<IpAddress> ip;  // when host is a literal

    std::string host_text() const;  // with brackets around IPv6
    std::string to_string() const;  // host_text:port
    friend bool operator==(const Authority&, const Authority&) = default;
};

// Nothing for user information, a zone id, an empty host, a port outside 1 to 65535, percent escapes, bytes beyond
// ASCII, labels over 63 or names over 253 bytes, and names that end in a number but are no IPv4 address.
std::optional<Authority> parse_authority(std::string_view text, std::uint16_t default_port = 0);
std::optional<std::string> normalise_host(std::string_view host);  // without port; brackets allowed

// The cheap check that the head parser uses: syntax alone, no allocation.
struct AuthorityParts {
    std::string_view host;  // with brackets if it has them
    std::string_view port;  // digits, maybe empty
    bool has_colon = false;
};
std::optional<AuthorityParts> split_authority(std::string_view text);

}  // namespace opid::http
