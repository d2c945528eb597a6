#include "adapters/http/proxy_connection.hpp"

#include <algorithm>
#include <charconv>

#include "adapters/http/local_answer.hpp"
#include "base/encoding.hpp"
#include "core/http/hop_by_hop.hpp"

namespace opid {

namespace {

constexpr char tls_handshake_record = 0x16;
constexpr Millis warm_for{250};        // how long a connection keeps its buffers after a request
constexpr std::size_t warm_max = 256;  // so many of a thread's connections

bool is_loopback(const boost::asio::ip::address& address) {
    if (address.is_v4()) return address.to_v4().is_loopback();
    const auto v6 = address.to_v6();
    if (v6.is_v4_mapped()) return make_address_v4(boost::asio::ip::v4_mapped, v6).is_loopback();
    return v6.is_loopback();
}

Answer plain_answer(int status, std::string body) {
    Answer answer;
    answer.status = status;
    answer.fields = {{"Content-Type", "text/plain; charset=utf-8"}, {"Cache-Control", "no-store"}};
    answer.body = std::make_shared<const std::string>(std::move(body));
    return answer;
}

bool is_plain_word(std::string_view text) {
    return !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
}

// What `opid doctor` looks for: that its request, with its ID, came to opid and to nobody else.
Answer echo_answer(const http::RequestHead& head, std::string_view target) {
    static constexpr std::string_view prefix = "/echo/";
    std::string_view nonce = target;
    if (nonce.starts_with(prefix)) nonce.remove_prefix(prefix.size());
    const std::string_view id = head.fields.get("operation-id").value_or("");
    std::string body = R"({"opid":"seen","nonce":")";
    if (is_plain_word(nonce)) body += nonce;
    body += R"(","operation_id":")";
    if (is_plain_word(id)) body += id;
    body += "\"}\n";
    Answer answer = plain_answer(200, std::move(body));
    answer.fields.front().second = "application/json";
    return answer;
}

// Max-Forwards less one; empty where there is nothing to count down.
std::string counted_down(const http::RequestHead& head) {
    if (head.method != "OPTIONS" && head.method != "TRACE") return {};
    const auto text = head.fields.get("max-forwards");
    std::uint32_t left = 0;
    if (!text) return {};
    const auto read = std::from_chars(text->data(), text->data() + text->size(), left);
    if (read.ec != std::errc() || read.ptr != text->data() + text->size() || left == 0) return {};
    return std::to_string(left - 1);
}

}  // namespace

ProxyConnection::ProxyConnection(IoShard& shard, Stream client, const Stream::Endpoint& peer,
                                 const Listening& listening)
    : ShardMember(shard),
      client_(std::move(client)),
      listening_(listening),
      loopback_(is_loopback(peer.address())) {
    peer_ = peer.address().to_string();
}

void ProxyConnection::drain() noexcept {
    if (idle_) client_.close();
}

Task<> ProxyConnection::serve() {
    bool lingering = false;
    while (client_.is_open()) {
        if (scratch_ && scratch_->in.empty()) {
            const Rest rest = co_await read_while_warm();
            if (rest == Rest::over) break;
            if (rest == Rest::quiet) shard_.give_scratch(std::move(scratch_));
        }
        if (!scratch_) {
            const bool bytes = co_await wait_while_idle();
            if (!bytes) break;
            scratch_ = shard_.take_scratch();
        }
        shard_.shared.exchanges.fetch_add(1, std::memory_order_relaxed);
        std::optional<Served> served = co_await read_head();
        if (!served) served = co_await serve_request();
        shard_.shared.exchanges.fetch_sub(1, std::memory_order_relaxed);
        used_ = true;
        if (!served->keep || shard_.draining()) {
            lingering = served->body_unread || (client_.is_open() && scratch_ && !scratch_->in.empty());
            break;
        }
    }
    if (scratch_) shard_.give_scratch(std::move(scratch_));
    if (client_.is_open() && lingering) co_await linger(shard_, client_);
    client_.close();
}

// Where requests follow each other, the next one is read into the buffer of the last.
Task<ProxyConnection::Rest> ProxyConnection::read_while_warm() {
    Scratch& s = *scratch_;
    if (s.in.capacity() != BufferPool::small_bytes) co_return Rest::quiet;  // gone, or too large to rest on
    if (shard_.warm >= warm_max) co_return Rest::quiet;
    ++shard_.warm;
    idle_ = true;
    deadline_.arm(shard_.deadlines, client_, warm_for);
    auto reading = client_.read(s.in.room(), s.in.room_size());
    const Io io = co_await std::move(reading);
    idle_ = false;
    --shard_.warm;
    const bool quiet = deadline_.expired();
    deadline_.disarm();
    if (io.state == Io::State::done) {
        s.in.commit(io.bytes);
        co_return Rest::bytes;
    }
    const bool rests = quiet && client_.is_open();
    co_return rests ? Rest::quiet : Rest::over;
}

// No buffer is held here. False: the client left, or was silent for too long.
Task<bool> ProxyConnection::wait_while_idle() {
    if (client_.has_pending()) co_return true;
    const DataPlaneTimeouts& timeouts = shard_.shared.options.timeouts;
    idle_ = true;
    deadline_.arm(shard_.deadlines, client_, used_ ? timeouts.idle : timeouts.head);
    auto ready = client_.wait(Io::State::want_read);
    co_await std::move(ready);
    idle_ = false;
    if (deadline_.expired()) co_return false;
    deadline_.disarm();
    co_return client_.is_open();
}

Task<std::optional<ProxyConnection::Served>> ProxyConnection::read_head() {
    Scratch& s = *scratch_;
    const http::HeadLimits& limits = shard_.shared.options.limits.head;
    s.progress = {};
    bool armed = false;
    for (;;) {
        if (!s.in.empty()) {
            if (!used_ && s.in.view().front() == tls_handshake_record) {
                shard_.shared.parts.observer.trouble(
                    "listener", "a client spoke TLS to the plain port: its proxy URL must begin with http://");
                co_return Served{};
            }
            const http::HeadParse parse = http::parse_request_head(s.in.view(), limits, s.request, s.progress);
            if (parse.outcome == http::ParseOutcome::complete) {
                deadline_.disarm();
                head_only_ = s.request.method == "HEAD";
                s.in.consume(parse.consumed);
                s.request_body.start(s.request.framing);
                co_return std::nullopt;
            }
            if (parse.outcome == http::ParseOutcome::refused) {
                deadline_.disarm();
                if (!parse.refusal.close) s.in.consume(parse.consumed);
                s.request.clear();
                head_only_ = false;
                Problem refused = problem_of(parse.refusal);
                co_return co_await tell(std::move(refused), !parse.refusal.close);
            }
            if (s.in.room_size() == 0) {
                if (s.in.capacity() < BufferPool::large_bytes) {
                    shard_.buffers.grow(s.in);
                } else {
                    s.in.compact();
                }
            }
        }
        const Io io = client_.read_now(s.in.room(), s.in.room_size());
        if (io.state == Io::State::done) {
            s.in.commit(io.bytes);
            continue;
        }
        if (!io.blocked()) co_return Served{};
        if (!armed) deadline_.arm(shard_.deadlines, client_, shard_.shared.options.timeouts.head);
        armed = true;
        auto ready = client_.wait(io.state);
        co_await std::move(ready);
        if (!deadline_.expired()) continue;
        // Bytes of a request may have come: then it is told. A silent connection just ends.
        if (s.in.empty() || !s.progress.started) co_return Served{};
        s.request.clear();
        Problem late = make_problem(ProblemKind::request_timeout,
                                    "The request's head did not arrive in time. Nothing was sent.");
        head_only_ = false;
        co_return co_await tell(std::move(late), false);
    }
}

std::optional<Problem> ProxyConnection::check_head() const {
    const http::RequestHead& head = scratch_->request;
    if (http::passed_through(head.fields, shard_.shared.options.via)) {
        return make_problem(ProblemKind::loop, "The request has been through this proxy before. Nothing was sent.");
    }
    return std::nullopt;
}

// A client's requests often go to one place: what follows from scheme and authority is kept from the last one.
const Route& ProxyConnection::find_route() {
    const http::RequestHead& head = scratch_->request;
    const ProfileSet& profiles = shard_.profiles();
    if (entered_) {
        route_ = std::make_unique<Route>(route_inside(head, entered_->inside, profiles));
        return *route_;
    }
    const bool plain_http = head.form == http::TargetForm::absolute && head.scheme.size() == 4;
    const bool counts = head.method == "OPTIONS" || head.method == "TRACE";
    if (route_reusable_ && plain_http && !counts && route_generation_ == shard_.profile_generation() &&
        route_authority_ == head.authority) {
        return *route_;
    }
    route_ = std::make_unique<Route>(route(head, listening_, profiles));
    route_generation_ = shard_.profile_generation();
    route_authority_ = std::string(head.authority);
    route_reusable_ = plain_http && !counts && route_->kind == Route::Kind::pass_through && listening_.provider.empty();
    if (route_->kind == Route::Kind::pass_through) route_->target.clear();  // the head has it
    return *route_;
}

Task<ProxyConnection::Served> ProxyConnection::serve_request() {
    shard_.metrics.requests.add();
    const Route& to = find_route();
    if (to.kind == Route::Kind::refuse) {
        Problem problem = to.problem;
        const bool keep = skip_buffered_body();
        co_return co_await tell(std::move(problem), keep);
    }
    if (to.kind == Route::Kind::local) co_return co_await tell_local();
    std::optional<std::string> tenant = tenant_of_request();
    if (!tenant) {
        const bool keep = skip_buffered_body();
        Problem problem = make_problem(
            to.reverse ? ProblemKind::tenant_unauthenticated_reverse : ProblemKind::tenant_unauthenticated,
            shard_.shared.tenants.open()
                ? "No tenants are configured, so only callers on this machine are served. Nothing was sent."
                : "Proxy-Authorization with a tenant's token is needed (Bearer TOKEN, or Basic name:TOKEN). Nothing "
                  "was sent.");
        co_return co_await tell(std::move(problem), keep);
    }
    if (shard_.shared.tenants.misnamed(scratch_->request.fields)) {
        const bool keep = skip_buffered_body();
        Problem problem = make_problem(ProblemKind::bad_request,
                                       "Operation-Tenant needs one name of 1 to 128 visible ASCII characters. Nothing "
                                       "was sent.");
        co_return co_await tell(std::move(problem), keep);
    }
    if (std::optional<Problem> wrong = check_head()) {
        const bool keep = skip_buffered_body();
        co_return co_await tell(std::move(*wrong), keep);
    }
    if (to.https_in_plain && !used_) {
        shard_.shared.parts.observer.trouble("listener", "a client asked for https:// in the clear on the proxy port");
    }
    switch (to.kind) {
        case Route::Kind::tunnel: co_return co_await open_tunnel(to, std::move(*tenant));
        case Route::Kind::echo: co_return co_await serve_echo();
        case Route::Kind::profile: co_return co_await serve_profile(to, std::move(*tenant));
        case Route::Kind::pass_through:
        case Route::Kind::refuse:
        case Route::Kind::local: break;
    }
    co_return co_await relay(to, std::nullopt);
}

Task<ProxyConnection::Served> ProxyConnection::relay(const Route& to, std::optional<std::string_view> body) {
    RelayPlan plan;
    plan.origin = &to.origin;
    plan.target = to.target;
    if (to.reverse) plan.host = to.authority;
    if (to.reverse) plan.forwarded_for = peer_;
    plan.body = body;
    max_forwards_ = counted_down(scratch_->request);
    plan.max_forwards = max_forwards_;
    if (to.origin.profile && to.origin.profile->credentials && to.origin.profile->credentials->inject) {
        plan.credential_name = to.origin.profile->credentials->header;
        plan.credential_value = to.origin.profile->credentials->value.reveal();
    }
    Relay exchange(shard_, client_, *scratch_, plan);
    RelayEnd end = co_await exchange.run();
    if (!end.problem) co_return Served{end.keep, end.body_unread};
    const bool keep = !end.body_unread && scratch_->request_body.done() && scratch_->request.keep_alive;
    Served told = co_await tell(std::move(*end.problem), keep);
    told.body_unread = end.body_unread;
    co_return told;
}

Task<ProxyConnection::Served> ProxyConnection::serve_profile(const Route& to, std::string tenant) {
    GuardedPath path(shard_, client_, *scratch_, to, std::move(tenant), peer_);
    GuardedPath::End end = co_await path.run();
    switch (end.kind) {
        case GuardedPath::End::Kind::answered: co_return Served{end.keep, end.body_unread};
        case GuardedPath::End::Kind::problem: {
            bool keep = end.keep;
            if (keep && end.body_unread) keep = skip_buffered_body();
            Served told = co_await tell(std::move(end.problem), keep, end.dialect, std::move(end.jsonrpc_id));
            told.body_unread = end.body_unread && !keep;
            co_return told;
        }
        case GuardedPath::End::Kind::relay: break;
    }
    co_return co_await relay(to, end.body);
}

// Inside a tunnel the CONNECT has spoken for all that follows.
std::optional<std::string> ProxyConnection::tenant_of_request() const {
    const TenantGate& tenants = shard_.shared.tenants;
    if (entered_ && !tenants.open()) return entered_->tenant;
    return tenants.identify(scratch_->request.fields, loopback_);
}

Task<ProxyConnection::Served> ProxyConnection::serve_echo() {
    Answer answer = echo_answer(scratch_->request, route_->target);
    const bool keep = skip_buffered_body();
    co_return co_await send(answer, keep);
}

// Takes the body of a refused request off the buffer; true when it is all there, so that the connection can go on.
bool ProxyConnection::skip_buffered_body() {
    if (scratch_->request.is_connect() || !scratch_->request.keep_alive) return scratch_->request.keep_alive;
    BodyReader& body = scratch_->request_body;
    if (scratch_->request.expect_continue && !body.done()) return false;
    while (!body.done()) {
        const BodyReader::Piece piece = body.next_buffered(scratch_->in);
        if (piece.kind != BodyReader::Kind::data && piece.kind != BodyReader::Kind::end) return false;
    }
    return true;
}

Task<ProxyConnection::Served> ProxyConnection::tell_local() {
    const bool keep = skip_buffered_body();
    Answer answer = plain_answer(200, "opid\n");
    co_return co_await send(answer, keep);
}

Task<ProxyConnection::Served> ProxyConnection::tell(Problem problem, bool keep, ProblemDialect dialect,
                                                    std::string jsonrpc_id) {
    shard_.count(problem.kind);
    shard_.shared.parts.observer.answered(
        route_ && route_->origin.profile ? std::string_view(route_->origin.profile->provider) : std::string_view(),
        traits(problem.kind).slug);
    Answer answer = render(problem, dialect, jsonrpc_id);
    if (!problem.operation_id.empty()) answer.fields.emplace_back("Operation-Id", problem.operation_id);
    if (problem.kind == ProblemKind::tenant_unauthenticated) {
        answer.fields.emplace_back("Proxy-Authenticate", "Bearer realm=\"opid\"");
        answer.fields.emplace_back("Proxy-Authenticate", "Basic realm=\"opid\"");
    } else if (problem.kind == ProblemKind::tenant_unauthenticated_reverse) {
        answer.fields.emplace_back("WWW-Authenticate", "Bearer realm=\"opid\"");
        answer.fields.emplace_back("WWW-Authenticate", "Basic realm=\"opid\"");
    }
    co_return co_await send(answer, keep);
}

Task<ProxyConnection::Served> ProxyConnection::send(const Answer& answer, bool keep) {
    Scratch& s = *scratch_;
    Served served;
    served.keep = keep && !shard_.draining();
    served.body_unread = !keep;
    AnswerFraming framing;
    framing.close = !served.keep;
    framing.http10 = s.request.minor == 0;
    framing.head_only = head_only_;
    framing.date = shard_.date();
    s.answer.clear();
    write_answer(answer, framing, s.answer);
    const bool written = co_await write_all(shard_, client_, s.answer);
    if (!written) served = Served{};
    co_return served;
}

Task<> run_connection(IoShard& shard, Stream::Socket socket, Stream::Endpoint peer, const Listening& listening) {
    ProxyConnection connection(shard, Stream(std::move(socket)), peer, listening);
    co_await connection.serve();
}

}  // namespace opid
