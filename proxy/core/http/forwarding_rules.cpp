// The name lists behind hop_by_hop.hpp and chunk_reader.hpp: which fields end here, which can't be taken away by a
// Connection option, which may not come behind a body.
#include <algorithm>
#include <array>
#include <string>

#include "base/encoding.hpp"
#include "core/http/chunk_reader.hpp"
#include "core/http/hop_by_hop.hpp"
#include "core/http/known_field.hpp"

namespace opid::http {
namespace {

constexpr std::array<std::string_view, 31> protected_names{"accept",
                                                           "accept-encoding",
                                                           "age",
                                                           "authorization",
                                                           "cache-control",
                                                           "content-encoding",
                                                           "content-length",
                                                           "content-location",
                                                           "content-range",
                                                           "content-type",
                                                           "cookie",
                                                           "date",
                                                           "etag",
                                                           "expect",
                                                           "forwarded",
                                                           "host",
                                                           "idempotency-key",
                                                           "location",
                                                           "max-forwards",
                                                           "opid-problem",
                                                           "range",
                                                           "retry-after",
                                                           "set-cookie",
                                                           "trailer",
                                                           "transfer-encoding",
                                                           "user-agent",
                                                           "vary",
                                                           "via",
                                                           "www-authenticate",
                                                           "x-forwarded-for",
                                                           "x-forwarded-host"};

// RFC 9110 section 6.5.1: framing, routing, request modifiers, authentication, content handling and caching. To these
// come the fields that identify an operation.
constexpr std::array<std::string_view, 49> never_in_trailers{"accept",
                                                             "accept-charset",
                                                             "accept-encoding",
                                                             "accept-language",
                                                             "age",
                                                             "authentication-info",
                                                             "authorization",
                                                             "cache-control",
                                                             "connection",
                                                             "content-encoding",
                                                             "content-length",
                                                             "content-location",
                                                             "content-range",
                                                             "content-type",
                                                             "cookie",
                                                             "cookie2",
                                                             "date",
                                                             "expect",
                                                             "expires",
                                                             "forwarded",
                                                             "from",
                                                             "host",
                                                             "http2-settings",
                                                             "idempotency-key",
                                                             "idempotent-replayed",
                                                             "if-match",
                                                             "if-modified-since",
                                                             "if-none-match",
                                                             "if-range",
                                                             "if-unmodified-since",
                                                             "keep-alive",
                                                             "location",
                                                             "max-forwards",
                                                             "opid-problem",
                                                             "origin",
                                                             "pragma",
                                                             "range",
                                                             "referer",
                                                             "retry-after",
                                                             "set-cookie",
                                                             "te",
                                                             "trailer",
                                                             "transfer-encoding",
                                                             "upgrade",
                                                             "vary",
                                                             "via",
                                                             "warning",
                                                             "www-authenticate",
                                                             "x-forwarded-for"};

template <std::size_t N>
bool listed(const std::array<std::string_view, N>& names, std::string_view name) {
    const auto same = [name](std::string_view known) { return equal_ignoring_case(known, name); };
    return std::any_of(names.begin(), names.end(), same);
}

bool begins_with(std::string_view name, std::string_view lower) {
    return name.size() >= lower.size() && equal_ignoring_case(name.substr(0, lower.size()), lower);
}

}  // namespace

bool is_hop_by_hop(std::string_view name) {
    switch (known_field(name)) {
        case KnownField::connection:
        case KnownField::http2_settings:
        case KnownField::keep_alive:
        case KnownField::proxy_authenticate:
        case KnownField::proxy_authorization:
        case KnownField::proxy_connection:
        case KnownField::te:
        case KnownField::transfer_encoding:
        case KnownField::upgrade: return true;
        case KnownField::other:
        case KnownField::content_length:
        case KnownField::expect:
        case KnownField::host:
        case KnownField::operation:
        case KnownField::opid_problem:
        case KnownField::trailer:
        case KnownField::via:
        case KnownField::x_forwarded_for: break;
    }
    return false;
}

bool is_operation_field(std::string_view name) { return known_field(name) == KnownField::operation; }

bool is_protected(std::string_view name) {
    return listed(protected_names, name) || begins_with(name, "x-forwarded-") || begins_with(name, "operation-");
}

bool is_for_the_client(const ResponseHead& head, std::string_view name) {
    if (is_hop_by_hop(name) || known_field(name) == KnownField::trailer) return false;
    return !head.has_connection_option(name) || is_protected(name);
}

bool may_be_trailer(std::string_view name) {
    return !listed(never_in_trailers, name) && !begins_with(name, "operation-") && !begins_with(name, "proxy-") &&
           !begins_with(name, "x-forwarded-");
}

bool passed_through(const FieldList& fields, std::string_view pseudonym) {
    if (pseudonym.empty()) return false;
    for (const std::string_view hop : fields.elements("via")) {
        const std::size_t blank = hop.find_first_of(" \t");
        if (blank == std::string_view::npos) continue;
        std::string_view received_by = trim_blank(hop.substr(blank));
        received_by = received_by.substr(0, received_by.find_first_of(" \t("));
        if (equal_ignoring_case(received_by, pseudonym)) return true;
    }
    return false;
}

}  // namespace opid::http
