#pragma once
// Where traffic may go that no profile covers. Explicit denials (CIDRs, host patterns) come first, then what is
// allowed, then the denied classes; nothing but the word `metadata` lifts the denial of metadata services.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/http/address_class.hpp"
#include "core/http/ip_address.hpp"

namespace opid {

struct AddressAndPort {
    http::IpAddress ip;
    std::uint16_t port = 0;
    friend bool operator==(const AddressAndPort&, const AddressAndPort&) = default;
};
std::optional<AddressAndPort> parse_address_and_port(std::string_view text);  // "1.2.3.4:80", "[::1]:80"

// As configured: CIDRs, single addresses, host patterns ("api.example.com", "*.example.com"), `private`, `metadata`.
struct EgressRules {
    std::vector<std::string> deny{"private", "metadata"};
    std::vector<std::string> allow;
    std::map<std::string, std::string> resolve;  // "name:443" to "127.0.0.1:9443"
};

class EgressPolicy {
public:
    static Result<EgressPolicy> parse(const EgressRules& rules);  // invalid: names the entry

    // All addresses of the name must pass. Nothing when they do; else why not, without naming the address.
    std::optional<std::string> refusal(std::string_view host, std::uint16_t port,
                                       const std::vector<http::IpAddress>& addresses) const;
    // What can be said before the name is looked up.
    std::optional<std::string> refusal_of_name(std::string_view host, std::uint16_t port) const;
    std::optional<AddressAndPort> fixed_address(std::string_view host, std::uint16_t port) const;

private:
    struct Side {
        std::vector<http::Cidr> blocks;
        std::vector<std::string> hosts;
        bool private_class = false;
        bool metadata_class = false;
        bool names_host(std::string_view host) const;
        bool holds(const http::IpAddress& address) const;
    };
    static Status read_side(const std::vector<std::string>& words, Side& side);

    Side deny_;
    Side allow_;
    std::map<std::string, AddressAndPort, std::less<>> resolve_;
};

}  // namespace opid
