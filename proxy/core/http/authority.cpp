#include "core/http/authority.hpp"

#include <algorithm>
#include <charconv>

#include "base/encoding.hpp"
#include "core/http/octets.hpp"

namespace opid::http {
namespace {

constexpr std::size_t name_bytes_max = 253;
constexpr std::size_t label_bytes_max = 63;

bool is_host_char(char c) { return is_alpha(c) || is_digit(c) || c == '-' || c == '.' || c == '_'; }

std::optional<std::uint16_t> parse_port(std::string_view digits) {
    std::uint16_t port = 0;
    const auto done = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (digits.empty() || done.ec != std::errc{} || done.ptr != digits.data() + digits.size() || port == 0) {
        return std::nullopt;
    }
    return port;
}

bool labels_fit(std::string_view name) {
    while (!name.empty()) {
        const std::size_t dot = std::min(name.find('.'), name.size());
        if (dot == 0 || dot > label_bytes_max) return false;
        name.remove_prefix(std::min(dot + 1, name.size()));
    }
    return true;
}

// A name whose last label is a number is an IPv4 address to resolvers and to browsers (WHATWG URL section 3.5).
bool ends_in_number(std::string_view name) {
    const std::string_view last = name.substr(name.rfind('.') + 1);
    if (std::all_of(last.begin(), last.end(), is_digit)) return true;
    return last.size() >= 2 && last[0] == '0' && last[1] == 'x' &&
           last.find_first_not_of("0123456789abcdef", 2) == std::string_view::npos;
}

// `bare`: a host that split_authority accepted.
bool set_host(std::string_view bare, Authority& out) {
    if (bare.front() == '[') {
        out.ip = parse_ip(bare.substr(1, bare.size() - 2));
        out.host = out.ip->to_string();
        return true;
    }
    if (bare.back() == '.') bare.remove_suffix(1);
    if (bare.empty() || bare.size() > name_bytes_max || bare.back() == '.') return false;
    out.host = ascii_lower(bare);
    if (!labels_fit(out.host)) return false;
    if (!ends_in_number(out.host)) return true;
    out.ip = parse_lax_ipv4(out.host);
    if (!out.ip) return false;
    out.host = out.ip->to_string();
    return true;
}

}  // namespace

std::optional<AuthorityParts> split_authority(std::string_view text) {
    AuthorityParts parts;
    std::size_t host_end = 0;
    if (!text.empty() && text.front() == '[') {
        const std::size_t bracket = text.find(']');
        if (bracket == std::string_view::npos) return std::nullopt;
        const std::string_view literal = text.substr(1, bracket - 1);
        if (literal.find(':') == std::string_view::npos || !parse_ip(literal)) return std::nullopt;
        host_end = bracket + 1;
    } else {
        while (host_end < text.size() && is_host_char(text[host_end])) ++host_end;
    }
    if (host_end == 0) return std::nullopt;
    parts.host = text.substr(0, host_end);
    text.remove_prefix(host_end);
    if (text.empty()) return parts;
    if (text.front() != ':') return std::nullopt;
    parts.has_colon = true;
    parts.port = text.substr(1);
    if (!parts.port.empty() && !parse_port(parts.port)) return std::nullopt;
    return parts;
}

std::optional<Authority> parse_authority(std::string_view text, std::uint16_t default_port) {
    const auto parts = split_authority(text);
    if (!parts) return std::nullopt;
    Authority authority;
    if (!set_host(parts->host, authority)) return std::nullopt;
    authority.port_given = !parts->port.empty();
    authority.port = authority.port_given ? parse_port(parts->port).value_or(0) : default_port;
    return authority;
}

std::optional<std::string> normalise_host(std::string_view host) {
    // An IPv6 literal may come without its brackets.
    if (const auto ip = parse_ip(host)) return ip->to_string();
    const auto parts = split_authority(host);
    if (!parts || parts->has_colon) return std::nullopt;
    Authority authority;
    if (!set_host(parts->host, authority)) return std::nullopt;
    return authority.host;
}

std::string Authority::host_text() const { return ip && !ip->is_v4() ? "[" + host + "]" : host; }

std::string Authority::to_string() const { return host_text() + ":" + std::to_string(port); }

}  // namespace opid::http
