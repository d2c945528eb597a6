#include "core/http/known_field.hpp"

#include "core/http/octets.hpp"

namespace opid::http {
namespace {

KnownField if_name(std::string_view name, std::string_view lower, KnownField known) {
    return is_name(name, lower) ? known : KnownField::other;
}

KnownField by_length(std::string_view name) {
    switch (name.size()) {
        case 2: return if_name(name, "te", KnownField::te);
        case 3: return if_name(name, "via", KnownField::via);
        case 4: return if_name(name, "host", KnownField::host);
        case 6: return if_name(name, "expect", KnownField::expect);
        case 7:
            if (is_name(name, "upgrade")) return KnownField::upgrade;
            return if_name(name, "trailer", KnownField::trailer);
        case 10:
            if (is_name(name, "connection")) return KnownField::connection;
            return if_name(name, "keep-alive", KnownField::keep_alive);
        case 12: return if_name(name, "opid-problem", KnownField::opid_problem);
        case 14:
            if (is_name(name, "content-length")) return KnownField::content_length;
            return if_name(name, "http2-settings", KnownField::http2_settings);
        case 15: return if_name(name, "x-forwarded-for", KnownField::x_forwarded_for);
        case 16: return if_name(name, "proxy-connection", KnownField::proxy_connection);
        case 17: return if_name(name, "transfer-encoding", KnownField::transfer_encoding);
        case 18: return if_name(name, "proxy-authenticate", KnownField::proxy_authenticate);
        case 19: return if_name(name, "proxy-authorization", KnownField::proxy_authorization);
        case 25: return if_name(name, "proxy-authentication-info", KnownField::proxy_authenticate);
        default: return KnownField::other;
    }
}

}  // namespace

KnownField known_field(std::string_view name) {
    const KnownField known = by_length(name);
    if (known != KnownField::other || name.size() < 10) return known;
    if ((name[0] | 0x20) == 'o' && is_name(name.substr(0, 10), "operation-")) return KnownField::operation;
    return KnownField::other;
}

}  // namespace opid::http
