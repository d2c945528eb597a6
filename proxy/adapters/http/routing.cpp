#include "adapters/http/routing.hpp"

#include <algorithm>

#include "adapters/http/local_answer.hpp"
#include "base/encoding.hpp"

namespace opid {

using http::RequestHead;
using http::TargetForm;

namespace {

Route refuse(ProblemKind kind, std::string detail) {
    Route route;
    route.problem = make_problem(kind, std::move(detail));
    return route;
}

// Origin form of the target: an absolute form may lack the path.
std::string origin_form(const RequestHead& head) {
    if (head.form != TargetForm::absolute) return std::string(head.target);
    if (head.path.empty()) return head.method == "OPTIONS" ? "*" : "/";
    if (head.path.front() == '?') return "/" + std::string(head.path);
    return std::string(head.path);
}

// A place that the client names, with or without a profile.
Route to_place(Origin origin, const RequestHead& head, const ProfileSet& profiles) {
    Route route;
    route.authority = origin.authority_text();
    origin.cover(profiles.by_host(origin.host, origin.port));
    route.kind = origin.profile               ? Route::Kind::profile
                 : origin.host == doctor_host ? Route::Kind::echo
                                              : Route::Kind::pass_through;
    route.origin = std::move(origin);
    route.target = origin_form(head);
    return route;
}

Route to_connect(const RequestHead& head, const ProfileSet& profiles) {
    const auto authority = http::parse_authority(head.target);
    if (!authority || !authority->port_given) {
        return refuse(ProblemKind::bad_request, "CONNECT needs host:port with a port from 1 to 65535.");
    }
    Route route;
    route.kind = Route::Kind::tunnel;
    route.authority = std::string(head.target);
    auto origin = Origin::make(false, head.target, profiles.by_host(authority->host, authority->port));
    if (!origin) return refuse(ProblemKind::bad_request, "CONNECT needs host:port.");
    route.origin = std::move(*origin);
    return route;
}

Route to_absolute(const RequestHead& head, const ProfileSet& profiles) {
    const bool tls = equal_ignoring_case(head.scheme, "https");
    if (!tls && !equal_ignoring_case(head.scheme, "http")) {
        return refuse(ProblemKind::not_implemented, "Only http:// and https:// can be fetched through this proxy.");
    }
    auto origin = Origin::make(tls, head.authority, nullptr);
    if (!origin) return refuse(ProblemKind::bad_request, "The target names no host that could be connected to.");
    Route route = to_place(std::move(*origin), head, profiles);
    route.https_in_plain = tls;
    return route;
}

// Reverse mode: the place is the profile's, never the client's.
Route to_upstream(const ProfilePtr& profile, std::string target) {
    auto origin = Origin::upstream_of(profile);
    if (!origin) return refuse(ProblemKind::unreachable, "The profile's upstream is malformed.");
    Route route;
    route.kind = Route::Kind::profile;
    route.reverse = true;
    route.origin = std::move(*origin);
    route.authority = profile->upstream_authority;
    route.target = profile->upstream_base_path + std::move(target);
    return route;
}

// Host names a place that a profile covers: that place, by the profile's scheme.
Route to_covered_host(const RequestHead& head, const ProfilePtr& profile, bool tls) {
    auto origin = Origin::make(tls, head.authority, profile);
    if (!origin) return refuse(ProblemKind::bad_request, "Host names no place.");
    Route route;
    route.kind = Route::Kind::profile;
    route.reverse = true;
    route.authority = std::string(head.authority);
    const auto upstream = http::parse_authority(profile->upstream_authority, tls ? 443 : 80);
    if (upstream && upstream->host == origin->host && upstream->port == origin->port) {
        route.authority = profile->upstream_authority;
    }
    route.origin = std::move(*origin);
    route.target = std::string(head.target);
    return route;
}

ProfilePtr covered_by(const RequestHead& head, const ProfileSet& profiles, bool& tls) {
    if (head.authority.empty()) return nullptr;
    const auto plain = http::parse_authority(head.authority);
    if (!plain) return nullptr;
    for (const std::uint16_t port : {std::uint16_t{443}, std::uint16_t{80}}) {
        ProfilePtr profile = profiles.by_host(plain->host, plain->port_given ? plain->port : port);
        if (!profile) continue;
        tls = profile->upstream_scheme != "http";
        if (plain->port_given || (port == 443) == tls) return profile;
    }
    return nullptr;
}

std::string unknown_provider_help(const ProfileSet& profiles) {
    std::string help =
        "This is opid, a proxy. Use it as HTTP_PROXY/HTTPS_PROXY, or as a base URL with a provider's name as the first "
        "part of the path: /<provider>/... .";
    if (profiles.all().empty()) return help + " No provider profile is loaded.";
    help += " Providers here:";
    std::size_t shown = 0;
    for (const ProfilePtr& profile : profiles.all()) {
        if (++shown > 20) return help + " ...";
        help += " " + profile->provider;
    }
    return help + ".";
}

Route to_origin_form(const RequestHead& head, const ProfileSet& profiles) {
    bool tls = true;
    if (const ProfilePtr profile = covered_by(head, profiles, tls)) return to_covered_host(head, profile, tls);
    const std::string_view path = head.target;
    const std::size_t end = std::min(path.find_first_of("/?", 1), path.size());
    const std::string_view first = path.substr(1, end - 1);
    if (const ProfilePtr profile = first.empty() ? nullptr : profiles.by_name(first)) {
        std::string rest(path.substr(end));
        if (rest.empty() || rest.front() != '/') rest.insert(0, 1, '/');
        return to_upstream(profile, std::move(rest));
    }
    return refuse(ProblemKind::unknown_provider, unknown_provider_help(profiles));
}

// A provider's own port is no proxy for other places: what a client would have sent there goes nowhere else.
bool names_another_place(const RequestHead& head, const ProfilePtr& profile, const ProfileSet& profiles) {
    if (head.form != TargetForm::absolute) return false;
    const std::uint16_t port = equal_ignoring_case(head.scheme, "https") ? 443 : 80;
    const auto named = http::parse_authority(head.authority, port);
    if (!named) return true;
    const bool itself = named->host == "localhost" ||
                        (named->ip && http::classify(*named->ip) == http::AddressClass::loopback);
    return !itself && profiles.by_host(named->host, named->port) != profile;
}

bool ends_here(const RequestHead& head) {
    if (head.method != "OPTIONS" && head.method != "TRACE") return false;
    const auto left = head.fields.get("max-forwards");
    return left && !left->empty() && left->find_first_not_of('0') == std::string_view::npos;
}

}  // namespace

Route route(const RequestHead& head, const Listening& at, const ProfileSet& profiles) {
    Route local;
    local.kind = Route::Kind::local;
    if (ends_here(head)) return local;
    switch (head.form) {
        case TargetForm::authority:
            if (!at.provider.empty())
                return refuse(ProblemKind::not_allowed, "This port serves one provider, not CONNECT.");
            return to_connect(head, profiles);
        case TargetForm::absolute:
            if (at.provider.empty()) return to_absolute(head, profiles);
            break;
        case TargetForm::asterisk:
            if (at.provider.empty()) return local;
            break;
        case TargetForm::origin:
            if (at.provider.empty()) return to_origin_form(head, profiles);
            break;
    }
    const ProfilePtr profile = profiles.by_name(at.provider);
    if (!profile) {
        return refuse(ProblemKind::unknown_provider,
                      "No profile is loaded for the provider that this port is meant for.");
    }
    if (names_another_place(head, profile, profiles)) {
        return refuse(ProblemKind::misdirected,
                      "This port serves the provider " + profile->provider +
                          ", and the request names another place. Nothing was sent: use the port of the proxy.");
    }
    return to_upstream(profile, origin_form(head));
}

Route route_inside(const RequestHead& head, const Inside& inside, const ProfileSet& profiles) {
    if (ends_here(head) || head.form == TargetForm::asterisk) {
        Route local;
        local.kind = Route::Kind::local;
        return local;
    }
    const auto elsewhere = [] {
        return refuse(ProblemKind::misdirected,
                      "The request names another place than the one that this connection was opened to. Nothing was "
                      "sent: open a connection to that place.");
    };
    if (head.form == TargetForm::authority) {
        return refuse(ProblemKind::bad_request, "CONNECT inside an intercepted connection leads nowhere.");
    }
    if (head.form == TargetForm::absolute && !equal_ignoring_case(head.scheme, inside.tls ? "https" : "http")) {
        return elsewhere();
    }
    if (!head.authority.empty()) {  // HTTP/1.0 may leave it out
        const auto named = http::parse_authority(head.authority, inside.tls ? 443 : 80);
        if (!named || named->host != inside.authority.host || named->port != inside.authority.port) return elsewhere();
    }
    auto origin = Origin::make(inside.tls, inside.authority.to_string(), nullptr);
    if (!origin) return refuse(ProblemKind::bad_request, "The tunnel leads to no host.");
    return to_place(std::move(*origin), head, profiles);
}

TunnelPlan plan_tunnel(const Origin& origin) {
    return origin.profile || origin.host == doctor_host ? TunnelPlan::intercept : TunnelPlan::blind;
}

}  // namespace opid
