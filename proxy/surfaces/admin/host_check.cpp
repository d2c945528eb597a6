#include "surfaces/admin/host_check.hpp"

#include "base/encoding.hpp"
#include "core/http/authority.hpp"

namespace opid {

bool host_is_ours(std::string_view host, const AdminAddress& bound) {
    const auto authority = http::parse_authority(host, bound.port);
    if (!authority) return false;
    if (authority->host == "localhost" || authority->host == bound.host) return true;
    if (!authority->ip) return false;
    const bool bound_to_all = bound.host == "0.0.0.0" || bound.host == "::";
    return bound_to_all || authority->host.starts_with("127.") || authority->host == "::1";
}

bool origin_is_ours(std::string_view origin, std::string_view host) {
    if (origin.empty()) return true;
    for (const std::string_view scheme : {std::string_view("http://"), std::string_view("https://")}) {
        if (origin.starts_with(scheme)) return equal_ignoring_case(origin.substr(scheme.size()), host);
    }
    return false;
}

}  // namespace opid
