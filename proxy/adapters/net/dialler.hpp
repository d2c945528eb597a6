#pragma once
// Opens a connection to an origin: policy, name, address after address, TLS; a budget for each. The address that was
// checked is the one that is dialled.
#include <cstdint>
#include <optional>
#include <string>

#include "adapters/net/egress_policy.hpp"
#include "adapters/net/own_endpoints.hpp"
#include "adapters/net/resolver.hpp"
#include "adapters/net/stream.hpp"
#include "adapters/net/tls_contexts.hpp"
#include "core/operation/evidence.hpp"
#include "core/profile/profile.hpp"

namespace opid {

// A place that requests go to. Immutable once made.
struct Origin {
    bool tls = false;
    std::string host;  // canonical, IPv6 without brackets
    std::uint16_t port = 0;
    std::optional<http::IpAddress> ip;  // when host is a literal
    ProfilePtr profile;                 // where covered: its trust and its address; exempt from egress rules
    std::string pool_key;               // equal for origins that may share connections

    // `authority` may lack the port. Nothing when it is malformed.
    static std::optional<Origin> make(bool tls, std::string_view authority, ProfilePtr profile);
    static std::optional<Origin> upstream_of(const ProfilePtr& profile);
    void cover(ProfilePtr by);           // once; null: nothing changes
    std::string authority_text() const;  // for Host: without the scheme's default port
};

struct DialFailure {
    enum class Cause : std::uint8_t {
        refused_by_policy,
        own_listener,
        own_admin,
        dns,
        dns_timeout,
        connect,
        connect_timeout,
        tls,
        tls_timeout,
        overloaded,
    };
    Cause cause = Cause::connect;
    Stage stage = Stage::none;  // reached before it failed
    std::string words;          // for people; short, no secret
    bool timed_out() const {
        return cause == Cause::dns_timeout || cause == Cause::connect_timeout || cause == Cause::tls_timeout;
    }
};

struct Dialled {
    Stream stream;
    std::optional<DialFailure> failure;
};

struct DialTimeouts {
    Millis dns{5000};
    Millis connect{5000};
    Millis tls{5000};
};

// Thread-safe apart from the streams that it makes. Everything given here outlives it.
class Dialler {
public:
    Dialler(const EgressPolicy& policy, const OwnEndpoints& own, Resolver& resolver, TlsContexts& contexts,
            DialTimeouts timeouts);
    // The stream belongs to the calling coroutine's executor. `origin` outlives the call.
    Task<Dialled> dial(const Origin& origin) const;

private:
    struct Goal;
    Task<std::optional<DialFailure>> find_addresses(const Origin& origin, Goal& goal) const;
    Task<std::optional<DialFailure>> connect(Goal& goal, Stream& stream) const;
    Task<std::optional<DialFailure>> shake_hands(const Origin& origin, Stream& stream) const;

    const EgressPolicy& policy_;
    const OwnEndpoints& own_;
    Resolver& resolver_;
    TlsContexts& contexts_;
    DialTimeouts timeouts_;
};

}  // namespace opid
