#pragma once
// Where a request goes, decided from its head, the listener it came to and the profiles. Pure.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/net/dialler.hpp"
#include "core/answer/problem.hpp"
#include "core/http/authority.hpp"
#include "core/http/request_head.hpp"
#include "core/profile/profile_set.hpp"

namespace opid {

struct Route {
    enum class Kind : std::uint8_t {
        refuse,        // `problem`
        local,         // 200 here: Max-Forwards: 0, or OPTIONS * about opid itself
        echo,          // 200 here, for `opid doctor`: says that the request came through
        tunnel,        // CONNECT to `origin`, bytes relayed unseen
        pass_through,  // no profile
        profile,       // `origin.profile` and its rules decide
    };
    Kind kind = Kind::refuse;
    bool reverse = false;
    bool https_in_plain = false;  // https:// asked for on the plain port
    Origin origin;
    std::string authority;  // for Host and for the intent; as the client or the profile spells it
    std::string target;     // in origin form as the origin sees it
    Problem problem;
};

struct Listening {
    std::string provider;  // a reverse port of its own; empty: the shared port
};

Route route(const http::RequestHead& head, const Listening& at, const ProfileSet& profiles);

// The place that a CONNECT opened, for the requests inside when opid reads them.
struct Inside {
    bool tls = true;
    http::Authority authority;  // of the CONNECT; its port is given
};

// A request inside an intercepted tunnel: it has to name the place that the tunnel leads to (RFC 9110 section 7.4).
Route route_inside(const http::RequestHead& head, const Inside& inside, const ProfileSet& profiles);

// A name that no resolver knows (RFC 6761 section 6.4) and opid answers itself: whoever reaches it came through here.
inline constexpr std::string_view doctor_host = "doctor.opid.invalid";

// What CONNECT to this place becomes: a blind tunnel, or for a profile's host an intercepted one.
enum class TunnelPlan : std::uint8_t { blind, intercept };
TunnelPlan plan_tunnel(const Origin& origin);

}  // namespace opid
