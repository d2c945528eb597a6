#include "adapters/net/egress_policy.hpp"

#include <algorithm>

#include "core/http/authority.hpp"

namespace opid {

namespace {

constexpr std::uint16_t smtp_port = 25;

Error bad_entry(const std::string& word) {
    return {ErrorKind::invalid,
            "egress: \"" + word + "\" is no CIDR, address, host name, *.pattern, `private` or `metadata`"};
}

}  // namespace

std::optional<AddressAndPort> parse_address_and_port(std::string_view text) {
    const auto authority = http::parse_authority(text);
    if (!authority || !authority->ip || !authority->port_given) return std::nullopt;
    return AddressAndPort{*authority->ip, authority->port};
}

bool EgressPolicy::Side::names_host(std::string_view host) const {
    return std::any_of(hosts.begin(), hosts.end(), [host](const std::string& pattern) {
        if (pattern.rfind("*.", 0) != 0) return host == pattern;
        const std::string_view tail = std::string_view(pattern).substr(1);
        return host.size() > tail.size() && host.substr(host.size() - tail.size()) == tail;
    });
}

bool EgressPolicy::Side::holds(const http::IpAddress& address) const {
    const auto inner = http::embedded_ipv4(address);
    return std::any_of(blocks.begin(), blocks.end(), [&](const http::Cidr& block) {
        return block.contains(address) || (inner && block.contains(*inner));
    });
}

Status EgressPolicy::read_side(const std::vector<std::string>& words, Side& side) {
    for (const std::string& word : words) {
        if (word == "private") {
            side.private_class = true;
        } else if (word == "metadata") {
            side.metadata_class = true;
        } else if (const auto block = http::Cidr::parse(word)) {
            side.blocks.push_back(*block);
        } else {
            const bool wild = word.rfind("*.", 0) == 0;
            const auto host = http::normalise_host(wild ? std::string_view(word).substr(2) : std::string_view(word));
            if (!host) return bad_entry(word);
            side.hosts.push_back(wild ? "*." + *host : *host);
        }
    }
    return ok();
}

Result<EgressPolicy> EgressPolicy::parse(const EgressRules& rules) {
    EgressPolicy policy;
    const Status deny = read_side(rules.deny, policy.deny_);
    if (!deny) return deny.error();
    const Status allow = read_side(rules.allow, policy.allow_);
    if (!allow) return allow.error();
    for (const auto& [name, address] : rules.resolve) {
        const auto from = http::parse_authority(name);
        const auto to = parse_address_and_port(address);
        if (!from || !from->port_given || !to) {
            return Error(ErrorKind::invalid, "egress.resolve: \"" + name + "\": \"" + address +
                                                 "\" must be \"name:port\": \"address:port\"");
        }
        policy.resolve_.emplace(from->to_string(), *to);
    }
    return policy;
}

std::optional<AddressAndPort> EgressPolicy::fixed_address(std::string_view host, std::uint16_t port) const {
    if (resolve_.empty()) return std::nullopt;
    std::string key = host.find(':') == std::string_view::npos ? std::string(host) : "[" + std::string(host) + "]";
    key += ":" + std::to_string(port);
    const auto found = resolve_.find(key);
    if (found == resolve_.end()) return std::nullopt;
    return found->second;
}

std::optional<std::string> EgressPolicy::refusal_of_name(std::string_view host, std::uint16_t port) const {
    if (port == smtp_port) return "port 25 (mail) is never connected to";
    if (http::is_metadata_name(host) && deny_.metadata_class && !allow_.metadata_class) {
        return "it is a cloud metadata service, which egress.deny forbids";
    }
    if (deny_.names_host(host)) return "egress.deny forbids this host";
    return std::nullopt;
}

std::optional<std::string> EgressPolicy::refusal(std::string_view host, std::uint16_t port,
                                                 const std::vector<http::IpAddress>& addresses) const {
    if (auto by_name = refusal_of_name(host, port)) return by_name;
    const bool host_allowed = allow_.names_host(host);
    for (const http::IpAddress& address : addresses) {
        const http::AddressClass kind = http::classify(address);
        if (kind == http::AddressClass::metadata) {
            if (deny_.metadata_class && !allow_.metadata_class) {
                return "it leads to a cloud metadata service, which egress.deny forbids";
            }
            continue;
        }
        if (deny_.holds(address)) return "egress.deny forbids an address of this host";
        if (host_allowed || allow_.holds(address)) continue;
        if (deny_.private_class && !allow_.private_class && http::is_private(kind)) {
            return "it leads to a private, local or reserved address, which egress.deny forbids; egress.allow can "
                   "permit it";
        }
    }
    return std::nullopt;
}

}  // namespace opid
