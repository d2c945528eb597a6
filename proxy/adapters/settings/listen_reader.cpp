#include "adapters/settings/listen_reader.hpp"

#include <fmt/format.h>

#include "core/http/address_class.hpp"
#include "core/http/authority.hpp"

namespace opid {
namespace {

// host:port; port 0 lets the system pick.
std::optional<HostPort> parse_host_port(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return std::nullopt;
    const std::string_view digits = text.substr(colon + 1);
    if (digits.empty() || digits.size() > 5 || digits.find_first_not_of("0123456789") != std::string_view::npos) {
        return std::nullopt;
    }
    const int port = std::stoi(std::string(digits));
    auto host = http::normalise_host(text.substr(0, colon));
    if (!host || port > 65535) return std::nullopt;
    return HostPort{std::move(*host), static_cast<std::uint16_t>(port)};
}

bool is_loopback(const HostPort& address) {
    if (address.host == "localhost") return true;
    const auto ip = http::parse_ip(address.host);
    return ip && http::classify(*ip) == http::AddressClass::loopback;
}

bool read_host_port(const YamlNode& node, const std::string& path, FileReading& reading, HostPort& out) {
    const auto value = node.is_scalar() ? parse_host_port(node.text) : std::nullopt;
    if (!value) {
        reading.problem(node, path,
                        fmt::format("expected an address such as 127.0.0.1:8080, found {}", found_text(node)));
        return false;
    }
    out = *value;
    return true;
}

void read_providers(const YamlNode& node, FileReading& reading, ListenSettings& out) {
    MapReader entries(node, "listen.providers", reading);
    for (const auto& member : node.members) {
        const std::string& name = member.first.text;
        HostPort address;
        if (read_host_port(*entries.get(name), entries.path_of(name), reading, address)) {
            out.providers.emplace_back(name, address);
        }
    }
}

void check_distinct(MapReader& root, const ListenSettings& listen) {
    std::vector<std::pair<std::string, HostPort>> all{{"proxy", listen.proxy}, {"admin", listen.admin}};
    for (const auto& [name, address] : listen.providers) all.emplace_back("providers." + name, address);
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (all[i].second.port == 0 || !(all[i].second == all[j].second)) continue;
            root.problem("listen", fmt::format("{} and {} have the same address {}", all[j].first, all[i].first,
                                               all[i].second.to_string()));
        }
    }
}

}  // namespace

void read_listen(MapReader& root, ListenSettings& out) {
    if (const YamlNode* node = root.get("listen")) {
        FileReading& reading = root.reading();
        MapReader map(*node, "listen", reading);
        if (const YamlNode* at = map.get("proxy")) read_host_port(*at, "listen.proxy", reading, out.proxy);
        if (const YamlNode* at = map.get("admin")) read_host_port(*at, "listen.admin", reading, out.admin);
        if (const YamlNode* at = map.get("providers")) read_providers(*at, reading, out);
        map.finish();
    }
    check_distinct(root, out);
}

void check_open_bind(MapReader& root, const Settings& settings) {
    // A tenant that is there but wrong has a problem of its own.
    const YamlNode* tenants = root.get("tenants");
    if (!settings.tenants.empty() || (tenants != nullptr && !tenants->items.empty())) return;
    const auto refuse = [&root](const std::string& what, const HostPort& address) {
        if (is_loopback(address)) return;
        root.problem("listen", fmt::format("{} {} is reachable from other machines, which needs tenants with tokens",
                                           what, address.to_string()));
    };
    refuse("proxy", settings.listen.proxy);
    for (const auto& [name, address] : settings.listen.providers) refuse("providers." + name, address);
}

}  // namespace opid
