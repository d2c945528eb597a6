#pragma once
// Recognises the field names that the message rules look at, in one step a field.
#include <cstdint>
#include <string_view>

namespace opid::http {

enum class KnownField : std::uint8_t {
    other,
    connection,
    content_length,
    expect,
    host,
    http2_settings,
    keep_alive,
    operation,  // Operation-*
    opid_problem,
    proxy_authenticate,  // and Proxy-Authentication-Info
    proxy_authorization,
    proxy_connection,
    te,
    trailer,
    transfer_encoding,
    upgrade,
    via,
    x_forwarded_for,
};

KnownField known_field(std::string_view name);  // `name` is a token

}  // namespace opid::http
