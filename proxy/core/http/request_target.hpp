#pragma once
// The four forms of a request target (RFC 9112 section 3.2), told apart without copying or decoding a byte.
#include <string_view>

#include "core/http/refusal.hpp"
#include "core/http/request_head.hpp"

namespace opid::http {

enum class TargetFault : std::uint8_t {
    none,
    form,       // no form that this method may have
    authority,  // a host or port that can't be
    user_info,
    scheme,  // a scheme that opid doesn't speak
};

// Sets form, scheme, authority and path of `out` from its method and target.
TargetFault read_target(RequestHead& out);
Refusal target_refusal(TargetFault fault, bool close);

}  // namespace opid::http
