#include "adapters/net/dialler.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <chrono>

#include "adapters/system/steady_clock.hpp"
#include "core/http/authority.hpp"

namespace opid {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr Millis shortest_slice{300};  // of the connect budget, for one address among several

Stream::Endpoint to_endpoint(const http::IpAddress& ip, std::uint16_t port) {
    if (!ip.is_v4()) return {asio::ip::address_v6(ip.bytes()), port};
    asio::ip::address_v4::bytes_type bytes{};
    std::copy_n(ip.bytes().begin(), bytes.size(), bytes.begin());
    return {asio::ip::address_v4(bytes), port};
}

DialFailure failed(DialFailure::Cause cause, Stage stage, std::string words) {
    return DialFailure{cause, stage, std::move(words)};
}

std::string words_of(const error_code& error) {
    if (error == asio::error::connection_refused) return "connect refused";
    if (error == asio::error::connection_reset) return "connect reset";
    if (error == asio::error::network_unreachable || error == asio::error::host_unreachable) return "unreachable";
    return "connect: " + error.message();
}

Deadlines& deadlines_on(const Executor& executor) {
    return deadlines_of(static_cast<asio::io_context&>(executor.context()));
}

}  // namespace

std::optional<Origin> Origin::make(bool tls, std::string_view authority, ProfilePtr profile) {
    const auto parsed = http::parse_authority(authority, tls ? 443 : 80);
    if (!parsed) return std::nullopt;
    Origin origin;
    origin.tls = tls;
    origin.host = parsed->host;
    origin.port = parsed->port;
    origin.ip = parsed->ip;
    origin.pool_key = (tls ? "s " : "p ") + parsed->to_string();
    origin.cover(std::move(profile));
    return origin;
}

void Origin::cover(ProfilePtr by) {
    if (by) pool_key.append(" ").append(by->provider).append(" ").append(by->digest);
    profile = std::move(by);
}

std::optional<Origin> Origin::upstream_of(const ProfilePtr& profile) {
    return make(profile->upstream_scheme != "http", profile->upstream_authority, profile);
}

std::string Origin::authority_text() const {
    std::string text = host.find(':') == std::string::npos ? host : "[" + host + "]";
    if (port != (tls ? 443 : 80)) text += ":" + std::to_string(port);
    return text;
}

struct Dialler::Goal {
    std::vector<http::IpAddress> addresses;
    std::uint16_t port = 0;
};

Dialler::Dialler(const EgressPolicy& policy, const OwnEndpoints& own, Resolver& resolver, TlsContexts& contexts,
                 DialTimeouts timeouts)
    : policy_(policy),
      own_(own),
      resolver_(resolver),
      contexts_(contexts),
      timeouts_(timeouts) {}

Task<Dialled> Dialler::dial(const Origin& origin) const {
    Dialled dialled;
    Goal goal;
    dialled.failure = co_await find_addresses(origin, goal);
    if (dialled.failure) co_return dialled;
    dialled.failure = co_await connect(goal, dialled.stream);
    if (dialled.failure || !origin.tls) co_return dialled;
    dialled.failure = co_await shake_hands(origin, dialled.stream);
    co_return dialled;
}

Task<std::optional<DialFailure>> Dialler::find_addresses(const Origin& origin, Goal& goal) const {
    using Cause = DialFailure::Cause;
    std::string host = origin.host;
    std::optional<http::IpAddress> ip = origin.ip;
    bool trusted = origin.profile != nullptr;
    goal.port = origin.port;
    if (trusted && !origin.profile->upstream_address.empty()) {
        const auto fixed = http::parse_authority(origin.profile->upstream_address, origin.port);
        if (!fixed) co_return failed(Cause::dns, Stage::none, "upstream_address of the profile is malformed");
        host = fixed->host;
        ip = fixed->ip;
        goal.port = fixed->port;
    } else if (const auto fixed = policy_.fixed_address(origin.host, origin.port)) {
        if (!trusted) {
            auto refusal = policy_.refusal_of_name(origin.host, origin.port);
            if (refusal) co_return failed(Cause::refused_by_policy, Stage::none, std::move(*refusal));
        }
        ip = fixed->ip;
        goal.port = fixed->port;
        trusted = true;
    }
    if (!trusted) {
        auto refusal = policy_.refusal_of_name(origin.host, origin.port);
        if (refusal) co_return failed(Cause::refused_by_policy, Stage::none, std::move(*refusal));
    }
    if (ip) {
        goal.addresses.push_back(*ip);
    } else {
        Result<Resolver::Addresses> found = co_await resolver_.resolve(host, timeouts_.dns);
        if (!found) {
            const ErrorKind kind = found.error().kind();
            const Cause cause = kind == ErrorKind::timeout      ? Cause::dns_timeout
                                : kind == ErrorKind::overloaded ? Cause::overloaded
                                                                : Cause::dns;
            co_return failed(cause, Stage::none, "dns: " + found.error().what());
        }
        goal.addresses = std::move(*found);
    }
    for (const http::IpAddress& address : goal.addresses) {
        const OwnEndpoint own = own_.find(address, goal.port);
        if (own == OwnEndpoint::admin) co_return failed(Cause::own_admin, Stage::none, "that is opid's admin address");
        if (own == OwnEndpoint::proxy) co_return failed(Cause::own_listener, Stage::none, "that is opid itself");
    }
    if (!trusted) {
        auto refusal = policy_.refusal(origin.host, origin.port, goal.addresses);
        if (refusal) co_return failed(Cause::refused_by_policy, Stage::none, std::move(*refusal));
    }
    co_return std::nullopt;
}

// Address after address; each but the last gets its share of the budget, so that one dead address costs a part of it.
Task<std::optional<DialFailure>> Dialler::connect(Goal& goal, Stream& stream) const {
    using Cause = DialFailure::Cause;
    const Executor executor = co_await asio::this_coro::executor;
    Deadlines& deadlines = deadlines_on(executor);
    const auto start = steady_now();
    std::optional<DialFailure> failure;
    const std::size_t count = goal.addresses.size();
    for (std::size_t i = 0; i < count; ++i) {
        const auto passed = std::chrono::duration_cast<Millis>(steady_now() - start);
        const Millis left = timeouts_.connect - passed;
        if (left <= Millis{0}) break;
        const Millis share = left / static_cast<Millis::rep>(count - i);
        Stream::Socket socket(executor);
        Deadline deadline;
        const auto cancel = [](void* s) noexcept {
            error_code ignored;
            static_cast<Stream::Socket*>(s)->cancel(ignored);
        };
        deadlines.arm(deadline, std::min(left, std::max(share, shortest_slice)), cancel, &socket);
        auto connecting = socket.async_connect(to_endpoint(goal.addresses[i], goal.port), asio::as_tuple(use_task));
        const auto [error] = co_await std::move(connecting);
        deadline.disarm();
        if (!error) {
            stream = Stream(std::move(socket));
            co_return std::nullopt;
        }
        const bool timed_out = deadline.expired() || error == asio::error::timed_out;
        const bool no_files = error == asio::error::no_descriptors;
        failure = failed(timed_out  ? Cause::connect_timeout
                         : no_files ? Cause::overloaded
                                    : Cause::connect,
                         Stage::resolved, timed_out ? std::string("connect timeout") : words_of(error));
    }
    if (!failure) failure = failed(Cause::connect_timeout, Stage::resolved, "connect timeout");
    co_return failure;
}

Task<std::optional<DialFailure>> Dialler::shake_hands(const Origin& origin, Stream& stream) const {
    using Cause = DialFailure::Cause;
    const UpstreamTls plain;
    auto context = contexts_.context_for(origin.profile ? origin.profile->tls : plain);
    if (!context) {
        stream.close();
        co_return failed(Cause::tls, Stage::connected, "tls: " + context.error().what());
    }
    const Executor executor = co_await asio::this_coro::executor;
    const int handle = stream.socket().native_handle();
    auto session = std::make_unique<TlsSession>(std::move(*context), handle, origin.host, origin.ip.has_value());
    stream.start_tls(std::move(session));
    StreamDeadline deadline;
    deadline.arm(deadlines_on(executor), stream, timeouts_.tls);
    for (;;) {
        const Io io = stream.handshake_now();
        if (io.state == Io::State::done) co_return std::nullopt;
        if (!io.blocked()) {
            std::string words = "tls: " + stream.tls_trouble();
            stream.close();
            co_return failed(Cause::tls, Stage::connected, std::move(words));
        }
        if (deadline.expired()) {
            stream.close();
            co_return failed(Cause::tls_timeout, Stage::connected, "tls timeout");
        }
        auto ready = stream.wait(io.state);
        co_await std::move(ready);
    }
}

}  // namespace opid
