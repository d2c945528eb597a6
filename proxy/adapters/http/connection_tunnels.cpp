// What a connection does with CONNECT: relay unseen, or read what is inside.
#include "adapters/http/interception.hpp"
#include "adapters/http/local_answer.hpp"
#include "adapters/http/proxy_connection.hpp"
#include "adapters/http/tunnel.hpp"

namespace opid {

namespace {

constexpr std::string_view tunnel_opened = "HTTP/1.1 200 Connection established\r\n\r\n";

}  // namespace

Task<ProxyConnection::Served> ProxyConnection::open_tunnel(const Route& to, std::string tenant) {
    if (plan_tunnel(to.origin) == TunnelPlan::blind) co_return co_await tunnel_blind(to.origin, false);
    if (shard_.shared.parts.interceptor == nullptr) {
        const std::string base = to.origin.profile ? "/" + to.origin.profile->provider + "/" : std::string();
        Problem problem = make_problem(
            ProblemKind::not_implemented,
            "This host has a profile, and opid runs without a certificate authority: CONNECT would carry writes past "
            "it unseen. Use the base URL http://<opid>" +
                base + " instead. Nothing was sent.");
        co_return co_await tell(std::move(problem), false);
    }
    co_return co_await intercept(to, std::move(tenant));
}

void ProxyConnection::log_entry(const http::Authority& place, std::string_view what) const {
    shard_.shared.parts.observer.trouble("tunnel", place.to_string() + ": " + std::string(what));
}

// The client is told yes before anything is dialled: what it says next decides where its bytes go.
Task<ProxyConnection::Served> ProxyConnection::intercept(const Route& to, std::string tenant) {
    const bool written = co_await write_all(shard_, client_, tunnel_opened);
    if (!written) co_return Served{};
    const auto place = http::parse_authority(to.authority);
    Buffer& in = scratch_->in;
    const FirstBytes first = co_await read_first_bytes(shard_, client_, in, shard_.shared.options.timeouts.sniff);
    const EntryPlan plan = plan_entry(first, *place, shard_.shared.options.h2_only);
    switch (plan.kind) {
        case EntryPlan::Kind::refuse:
            if (first.kind == FirstBytes::Kind::gone) co_return Served{};
            shard_.metrics.tls_refused.add();
            log_entry(*place, "refused: " + plan.why);
            send_alert(client_, plan.alert);
            in.clear();
            co_return Served{false, true};
        case EntryPlan::Kind::blind:
            shard_.metrics.profile_tunnels_blind.add();
            log_entry(*place, "relayed unseen, its writes are NOT guarded: " + plan.why);
            co_return co_await tunnel_blind(to.origin, true);
        case EntryPlan::Kind::read_clear: break;
        case EntryPlan::Kind::intercept: {
            std::string hello(in.view());
            in.clear();
            const auto failure = co_await shake_hands(shard_, client_, *place, hello);
            if (failure) {
                shard_.metrics.tls_handshakes_failed.add();
                log_entry(*place, "TLS with the client failed: " + *failure);
                co_return Served{};
            }
            shard_.metrics.tls_intercepted.add();
            break;
        }
    }
    entered_ = std::make_unique<Entered>();
    entered_->inside.tls = plan.kind == EntryPlan::Kind::intercept;
    entered_->inside.authority = *place;
    entered_->tenant = std::move(tenant);
    Served served;
    served.keep = true;
    co_return served;
}

// `opened`: the client has its 200 already.
Task<ProxyConnection::Served> ProxyConnection::tunnel_blind(const Origin& origin, bool opened) {
    Dialled dialled = co_await shard_.shared.parts.outbound.dialler().dial(origin);
    if (dialled.failure) {
        shard_.metrics.upstream_connect_failures.add();
        if (opened) co_return Served{};
        const bool keep = scratch_->in.empty() && scratch_->request.keep_alive;
        Problem problem = problem_of(*dialled.failure);
        co_return co_await tell(std::move(problem), keep);
    }
    shard_.metrics.upstream_connects.add();
    if (!opened) {
        const bool written = co_await write_all(shard_, client_, tunnel_opened);
        if (!written) co_return Served{};
    }
    Buffer early = std::move(scratch_->in);
    if (early.empty()) {
        shard_.buffers.give(std::move(early));
        early = Buffer();
    }
    shard_.give_scratch(std::move(scratch_));
    Tunnel tunnel(shard_, client_, dialled.stream, std::move(early), Buffer());
    co_await tunnel.run();
    co_return Served{};
}

}  // namespace opid
