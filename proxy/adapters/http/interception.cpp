#include "adapters/http/interception.hpp"

#include <algorithm>
#include <memory>

#include "adapters/net/tls_session.hpp"
#include "adapters/tls/interceptor.hpp"

namespace opid {

namespace {

// RFC 8446 section 6.
constexpr std::uint8_t alert_decode_error = 50;
constexpr std::uint8_t alert_unrecognized_name = 112;
constexpr std::uint8_t alert_no_application_protocol = 120;

constexpr std::size_t method_min = 3;
constexpr std::size_t method_max = 20;

// A method in capitals, a blank, and what a target may begin with: enough to tell a request from other protocols.
std::optional<bool> is_request(std::string_view bytes) {
    std::size_t length = 0;
    while (length < bytes.size() && bytes[length] >= 'A' && bytes[length] <= 'Z') ++length;
    if (length > method_max) return false;
    if (length == bytes.size()) return std::nullopt;
    if (length < method_min || bytes[length] != ' ') return false;
    if (length + 1 == bytes.size()) return std::nullopt;
    const char first = bytes[length + 1];
    return first == '/' || first == '*' || first == 'h' || first == 'H';
}

// What a client that refuses our certificate most often wants to hear.
std::string advice(const std::string& trouble) {
    const bool untrusting = trouble.find("unknown ca") != std::string::npos ||
                            trouble.find("certificate") != std::string::npos ||
                            trouble.find("connection lost") != std::string::npos;
    return untrusting ? "; it may not trust opid's CA (see `opid env` and `opid ca export`)" : "";
}

}  // namespace

std::optional<FirstBytes> tell_first_bytes(std::string_view bytes) {
    FirstBytes first;
    if (bytes.empty()) return std::nullopt;
    tls::HelloParse parse = tls::parse_client_hello(bytes);
    switch (parse.outcome) {
        case tls::HelloOutcome::need_more: return std::nullopt;
        case tls::HelloOutcome::complete:
            first.kind = FirstBytes::Kind::tls;
            first.hello = std::move(parse.hello);
            return first;
        case tls::HelloOutcome::refused:
            first.kind = FirstBytes::Kind::broken;
            first.why = parse.why;
            return first;
        case tls::HelloOutcome::not_tls: break;
    }
    const std::optional<bool> request = is_request(bytes);
    if (!request) return std::nullopt;
    first.kind = *request ? FirstBytes::Kind::http : FirstBytes::Kind::foreign;
    return first;
}

Task<FirstBytes> read_first_bytes(IoShard& shard, Stream& client, Buffer& in, Millis within) {
    StreamDeadline deadline;
    deadline.arm(shard.deadlines, client, within);
    FirstBytes none;
    for (;;) {
        std::optional<FirstBytes> told = tell_first_bytes(in.view());
        if (told) co_return std::move(*told);
        if (in.room_size() == 0) {
            if (in.capacity() >= BufferPool::large_bytes) {  // not before the parser's own bound
                none.kind = FirstBytes::Kind::foreign;
                co_return none;
            }
            shard.buffers.grow(in);
        }
        const Io io = client.read_now(in.room(), in.room_size());
        if (io.state == Io::State::done) {
            in.commit(io.bytes);
            continue;
        }
        if (!io.blocked()) co_return none;
        auto ready = client.wait(io.state);
        co_await std::move(ready);
        if (!deadline.expired()) continue;
        none.kind = FirstBytes::Kind::silent;
        co_return none;
    }
}

EntryPlan plan_entry(const FirstBytes& first, const http::Authority& place, H2Only h2_only) {
    EntryPlan plan;
    switch (first.kind) {
        case FirstBytes::Kind::http: plan.kind = EntryPlan::Kind::read_clear; return plan;
        case FirstBytes::Kind::foreign:
            plan.kind = EntryPlan::Kind::blind;
            plan.why = "the client speaks neither TLS nor HTTP";
            return plan;
        case FirstBytes::Kind::silent:
            plan.kind = EntryPlan::Kind::blind;
            plan.why = "the client said nothing in time (timeouts.sniff)";
            return plan;
        case FirstBytes::Kind::gone: plan.why = "the client left"; return plan;
        case FirstBytes::Kind::broken:
            plan.alert = alert_decode_error;
            plan.why = "its ClientHello is malformed: " + std::string(first.why);
            return plan;
        case FirstBytes::Kind::tls: break;
    }
    const tls::ClientHello& hello = first.hello;
    if (hello.server_name_given) {
        const auto name = http::normalise_host(hello.server_name);
        if (!name || *name != place.host) {
            plan.alert = alert_unrecognized_name;
            plan.why = "the TLS name (SNI) is not the one that CONNECT named";
            return plan;
        }
    }
    if (!hello.alpn_given || hello.offers("http/1.1")) {
        plan.kind = EntryPlan::Kind::intercept;
        return plan;
    }
    plan.why = "the client offers no HTTP/1.1 (ALPN)";
    if (h2_only == H2Only::blind) {
        plan.kind = EntryPlan::Kind::blind;
    } else {
        plan.alert = alert_no_application_protocol;
    }
    return plan;
}

void send_alert(Stream& client, std::uint8_t alert) {
    const char record[] = {0x15, 0x03, 0x03, 0x00, 0x02, 0x02, static_cast<char>(alert)};
    client.write_now(std::string_view(record, sizeof record));
}

Task<std::optional<std::string>> shake_hands(IoShard& shard, Stream& client, const http::Authority& place,
                                             std::string_view hello) {
    Result<SslPtr> ssl = shard.shared.parts.interceptor->session_for(place.host, place.ip.has_value());
    if (!ssl) {
        client.close();
        co_return ssl.error().what();
    }
    const int handle = client.socket().native_handle();
    client.start_tls(std::make_unique<TlsSession>(ssl->release(), handle, std::string(hello)));
    StreamDeadline deadline;
    deadline.arm(shard.deadlines, client, shard.shared.options.timeouts.tls);
    for (;;) {
        const Io io = client.handshake_now();
        if (io.state == Io::State::done) co_return std::nullopt;
        if (!io.blocked()) {
            std::string trouble = client.tls_trouble();
            trouble += advice(trouble);
            client.close();
            co_return trouble;
        }
        auto ready = client.wait(io.state);
        co_await std::move(ready);
        if (deadline.expired()) {
            client.close();
            co_return "the client did not finish the handshake in time";
        }
    }
}

}  // namespace opid
