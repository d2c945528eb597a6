#include "core/http/request_target.hpp"

#include "core/http/authority.hpp"
#include "core/http/octets.hpp"

namespace opid::http {
namespace {

TargetFault check_authority(std::string_view authority, bool port_needed) {
    if (authority.find('@') != std::string_view::npos) return TargetFault::user_info;
    const auto parts = split_authority(authority);
    if (!parts) return TargetFault::authority;
    if (port_needed && parts->port.empty()) return TargetFault::authority;
    return TargetFault::none;
}

std::size_t scheme_length(std::string_view target) {
    if (target.empty() || !is_alpha(target[0])) return 0;
    std::size_t at = 1;
    while (at < target.size() && (is_alpha(target[at]) || is_digit(target[at]) || target[at] == '+' ||
                                  target[at] == '-' || target[at] == '.')) {
        ++at;
    }
    return target.substr(at, 3) == "://" ? at : 0;
}

TargetFault read_absolute(RequestHead& out) {
    const std::size_t length = scheme_length(out.target);
    if (length == 0) return TargetFault::form;
    out.form = TargetForm::absolute;
    out.scheme = out.target.substr(0, length);
    const std::string_view rest = out.target.substr(length + 3);
    const std::size_t path = rest.find_first_of("/?");
    out.authority = rest.substr(0, path);
    if (path != std::string_view::npos) out.path = rest.substr(path);
    if (!is_name(out.scheme, "http") && !is_name(out.scheme, "https")) return TargetFault::scheme;
    return check_authority(out.authority, false);
}

}  // namespace

TargetFault read_target(RequestHead& out) {
    if (out.method == "CONNECT") {
        out.form = TargetForm::authority;
        out.authority = out.target;
        return check_authority(out.target, true);
    }
    if (out.target[0] == '/') {
        out.form = TargetForm::origin;
        out.path = out.target;
        return TargetFault::none;
    }
    if (out.target == "*") {
        out.form = TargetForm::asterisk;
        out.path = out.target;
        return out.method == "OPTIONS" ? TargetFault::none : TargetFault::form;
    }
    return read_absolute(out);
}

Refusal target_refusal(TargetFault fault, bool close) {
    switch (fault) {
        case TargetFault::scheme:
            return {501, slug::not_implemented, "The target's scheme is neither http nor https.", close};
        case TargetFault::user_info:
            return {400, slug::bad_request, "The target carries user information before the host.", close};
        case TargetFault::authority: return {400, slug::bad_request, "The target's host or port is not valid.", close};
        case TargetFault::form:
        case TargetFault::none: break;
    }
    return {400, slug::bad_request, "The target has no form that this method may have.", close};
}

}  // namespace opid::http
