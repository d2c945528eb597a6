#pragma once
// Against DNS rebinding: a web page that got its own name resolved to this listener still sends that name in Host.
#include <cstdint>
#include <string>
#include <string_view>

namespace opid {

// Where the admin API listens, as bound.
struct AdminAddress {
    std::string host = "127.0.0.1";  // canonical; IPv6 without brackets
    std::uint16_t port = 0;
};

// "localhost", a loopback address, and the address that is bound; where all addresses are bound, any address literal
// (a literal can't be rebound). Any port: it may have been forwarded.
bool host_is_ours(std::string_view host, const AdminAddress& bound);

// No Origin, or http(s) with the very authority of Host.
bool origin_is_ours(std::string_view origin, std::string_view host);

}  // namespace opid
