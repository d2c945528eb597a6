#include "adapters/http/relay.hpp"

#include "adapters/http/local_answer.hpp"
#include "adapters/http/tunnel.hpp"
#include "core/http/chunk_writer.hpp"
#include "core/http/hop_by_hop.hpp"

namespace opid {

using http::BodyKind;

namespace {

constexpr std::size_t coalesce_max = 16 * 1024;  // copied together up to here, gathered beyond
constexpr Millis watch_every{500};
constexpr int first_refusal = 400;  // from this status on

bool is_read(std::string_view method) {
    return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "TRACE";
}

}  // namespace

Problem problem_of(const DialFailure& failure) {
    using Cause = DialFailure::Cause;
    switch (failure.cause) {
        case Cause::refused_by_policy:
        case Cause::own_admin:
            return make_problem(ProblemKind::not_allowed, "opid does not connect there: " + failure.words + ".");
        case Cause::own_listener: return make_problem(ProblemKind::loop, "The request leads back to opid itself.");
        case Cause::overloaded:
            return make_problem(ProblemKind::overloaded, "Nothing was sent: " + failure.words + ".");
        case Cause::dns:
        case Cause::connect:
        case Cause::tls:
        case Cause::dns_timeout:
        case Cause::connect_timeout:
        case Cause::tls_timeout: break;
    }
    Problem problem = make_problem(ProblemKind::unreachable, "Nothing was sent: " + failure.words + ".");
    if (failure.timed_out()) problem.status_override = 504;
    return problem;
}

Relay::Relay(IoShard& shard, Stream& client, Scratch& scratch, RelayPlan plan)
    : shard_(shard),
      client_(client),
      s_(scratch),
      plan_(plan),
      generation_(shard.profile_generation()),
      method_(scratch.request.method) {
    const http::RequestHead& head = s_.request;
    minor_ = head.minor;
    keep_alive_ = head.keep_alive;
    repeatable_ = is_read(head.method) && !head.framing.has_body();
    websocket_ = head.offers_upgrade("websocket");
    chunked_ = head.framing.kind == BodyKind::chunked;
    expects_ = head.expect_continue && !plan.body;
}

Task<RelayEnd> Relay::run() {
    shard_.metrics.passed_through.add();
    s_.up.clear();  // what an origin sent beyond its answer is no part of the next one
    write_head();
    if (!take_buffered_body()) co_return end_;
    Step step = Step::again;
    bool fresh = false;
    while (step == Step::again) {
        bool open = !fresh && reuse_connection();
        if (!open) open = co_await dial();
        if (!open) break;
        fresh = true;
        const Io io = upstream_.write_now(s_.out);
        sent_ = io.bytes;
        // A request that can't be written may have been answered already: the answer is looked for all the same.
        if (io.blocked() || io.state == Io::State::done) start_pump();
        step = co_await read_head();
        if (step == Step::again) co_await stop_pump();
    }
    watch_.disarm();
    expect_.disarm();
    given_up_.disarm();
    co_await finish();
    co_return end_;
}

void Relay::refuse(ProblemKind kind, std::string detail) {
    end_.problem = make_problem(kind, std::move(detail));
    end_.keep = false;
    end_.body_unread = !whole_;
}

bool Relay::request_sent() const { return sent_ == s_.out.size() && (whole_ || (pumping_ && pump_done_)); }

Relay::Step Relay::interrupted() {
    if (bad_body_) {
        end_.problem = problem_of(s_.request_body.refusal());
    } else if (body_stalled_) {
        refuse(ProblemKind::request_timeout, "The request body stopped arriving. It was given up.");
    } else if (origin_stalled_ && !client_gone_) {
        refuse(ProblemKind::unreachable,
               "The origin took no more of the request and did not answer. If the request changes something, it may "
               "have happened.");
        end_.problem->status_override = 504;
    } else {
        shard_.metrics.clients_gone.add();
    }
    upstream_.close();
    end_.keep = false;
    end_.body_unread = true;
    return Step::over;
}

// The connection ended before a byte of the answer.
Relay::Step Relay::lost(std::string_view what) {
    if (stopped()) return interrupted();
    const std::string refusal = upstream_.certificate_refused() ? upstream_.tls_trouble() : std::string();
    upstream_.close();
    if (!refusal.empty()) {
        refuse(ProblemKind::unreachable, "Nothing was done: the origin refused the connection, tls: " + refusal + ".");
        return Step::over;
    }
    const bool never_left = sent_ == 0 && whole_;
    if (reused_ && whole_ && interim_ == 0 && (repeatable_ || never_left)) {
        shard_.metrics.upstream_retries.add();
        s_.up.clear();
        s_.progress = {};
        return Step::again;
    }
    refuse(ProblemKind::unreachable,
           "The origin " + std::string(what) +
               " before it answered. If the request changes something, it may have happened.");
    return Step::over;
}

Task<Relay::Step> Relay::read_head() {
    if (s_.up.capacity() == 0) s_.up = shard_.buffers.take_small();
    s_.progress = {};
    for (;;) {
        if (!s_.up.empty()) {
            const http::HeadParse parse = http::parse_response_head(s_.up.view(), shard_.shared.options.limits.head,
                                                                    method_, s_.response, s_.progress);
            if (parse.outcome == http::ParseOutcome::complete) {
                const Step step = co_await handle_head(parse.consumed);
                if (step != Step::go_on) co_return step;
                continue;
            }
            if (parse.outcome == http::ParseOutcome::refused) {
                refuse(ProblemKind::upstream_invalid, std::string(parse.refusal.detail));
                co_return Step::over;
            }
            if (s_.up.room_size() == 0) shard_.buffers.grow(s_.up);
        }
        // Asked before each wait, too: what cancels one goes unheard by whoever is busy elsewhere.
        if (stopped()) co_return interrupted();
        watch();
        auto reading = upstream_.read(s_.up.room(), s_.up.room_size());
        const Io io = co_await std::move(reading);
        if (stopped()) co_return interrupted();
        if (io.state == Io::State::done) {
            s_.up.commit(io.bytes);
            continue;
        }
        // The request's rest was given up, as the origin takes no more of it. It may answer all the same.
        if (io.cancelled() && upstream_.is_open()) continue;
        const std::string_view what = io.state == Io::State::failed ? "broke the connection" : "closed the connection";
        if (s_.up.empty()) co_return lost(what);
        refuse(ProblemKind::upstream_invalid,
               "The origin " + std::string(what) + " in the middle of its answer's head.");
        co_return Step::over;
    }
}

Task<Relay::Step> Relay::handle_head(std::size_t head_bytes) {
    const http::ResponseHead& head = s_.response;
    if (head.interim()) co_return co_await relay_interim(head_bytes);
    expect_.disarm();
    given_up_.disarm();
    if (head.status == 101) {
        if (!websocket_ || !head.fields.has_element("upgrade", "websocket")) {
            refuse(ProblemKind::upstream_invalid, "The origin switched to a protocol that was not asked for.");
            co_return Step::over;
        }
        co_await switch_protocols(head_bytes);
        co_return Step::over;
    }
    write_answer_head(head_bytes);
    co_await relay_body();
    co_return Step::over;
}

Task<Relay::Step> Relay::relay_interim(std::size_t head_bytes) {
    if (++interim_ > shard_.shared.options.limits.head.interim_responses) {
        refuse(ProblemKind::upstream_invalid, "The origin sent too many interim responses.");
        co_return Step::over;
    }
    const bool is_continue = s_.response.status == 100;
    s_.answer.clear();
    if (minor_ > 0 && !(is_continue && continued_)) {
        http::ResponseForwarding forwarding;
        forwarding.framing = http::Framing::none();
        forwarding.via = shard_.shared.options.via;
        http::write_response_head(s_.response, forwarding, s_.answer);
    }
    if (is_continue) continued_ = true;
    s_.up.consume(head_bytes);
    s_.progress = {};
    bool written = true;
    if (!s_.answer.empty()) written = co_await write_all(shard_, client_, s_.answer);
    s_.answer.clear();
    if (written) co_return Step::go_on;
    client_gone_ = true;
    co_return interrupted();
}

void Relay::write_answer_head(std::size_t head_bytes) {
    const http::ResponseHead& head = s_.response;
    http::ResponseForwarding forwarding;
    forwarding.framing = http::client_framing(head, minor_);
    answer_kind_ = forwarding.framing.kind;
    end_.keep = keep_alive_ && request_sent() && answer_kind_ != BodyKind::until_close && !shard_.draining();
    forwarding.client_minor = minor_;
    forwarding.close = !end_.keep;
    forwarding.via = shard_.shared.options.via;
    s_.answer.clear();
    http::write_response_head(head, forwarding, s_.answer);
    if (head.reusable) {
        const auto hint = head.fields.get("keep-alive");
        keep_upstream_ = hint ? keep_hint(*hint) : ConnectionPool::idle_limit;
    }
    s_.response_body.start(head.framing);
    s_.up.consume(head_bytes);
}

Task<> Relay::relay_body() {
    http::ChunkWriter chunks;
    const bool chunked = answer_kind_ == BodyKind::chunked;
    BodyReader& body = s_.response_body;
    for (;;) {
        const BodyReader::Piece piece = body.next(s_.up, upstream_, shard_.buffers);
        bool written = true;
        if (piece.kind == BodyReader::Kind::data) {
            shard_.metrics.bytes_to_client.add(piece.data.size());
            if (s_.answer.size() + piece.data.size() <= coalesce_max) {
                if (chunked) chunks.append(piece.data, s_.answer);
                if (!chunked) s_.answer += piece.data;
                continue;
            }
            answered_ = true;
            const std::string_view before = chunked ? chunks.before_data(piece.data.size()) : std::string_view();
            const std::string_view after = chunked ? http::ChunkWriter::after_data : std::string_view();
            const Pieces pieces{s_.answer, before, piece.data, after};
            written = co_await write_pieces(shard_, client_, pieces);
            s_.answer.clear();
        } else {
            const bool ended = piece.kind == BodyReader::Kind::end;
            if (ended && chunked) chunks.finish(body.trailers(), s_.answer);
            if (!s_.answer.empty()) {
                answered_ = true;
                const Io io = client_.write_now(s_.answer);
                written = io.state == Io::State::done || io.blocked();
                if (written && io.bytes < s_.answer.size()) {
                    written = co_await write_all(shard_, client_, std::string_view(s_.answer).substr(io.bytes));
                }
                s_.answer.clear();
            }
            answer_whole_ = ended && written;
            if (ended) break;
            if (written && piece.kind != BodyReader::Kind::blocked) {
                cut_answer();
                break;
            }
        }
        if (!written) {
            client_gone_ = true;
            interrupted();
            break;
        }
        if (piece.kind != BodyReader::Kind::blocked) continue;
        watch();
        auto ready = upstream_.wait(piece.wait);
        co_await std::move(ready);
        if (client_gone_ || bad_body_) {
            if (bad_body_) cut_answer();
            interrupted();
            break;
        }
    }
    if (answer_whole_) co_return;
    end_.keep = false;
    end_.problem.reset();  // the answer has begun: nothing can be said any more
}

// The client must see that it is not whole: no last chunk, fewer bytes than announced, or a reset.
void Relay::cut_answer() {
    shard_.metrics.answers_cut.add();
    if (answer_kind_ == BodyKind::until_close) {
        client_.reset();
    } else {
        client_.close();
    }
    upstream_.close();
    end_.keep = false;
}

Task<> Relay::switch_protocols(std::size_t head_bytes) {
    if (pumping_) co_await pumping_->wait_until_empty();
    given_up_.disarm();
    end_.keep = false;
    http::ResponseForwarding forwarding;
    forwarding.framing = http::Framing::none();
    forwarding.via = shard_.shared.options.via;
    forwarding.upgrade = "websocket";
    s_.answer.clear();
    http::write_response_head(s_.response, forwarding, s_.answer);
    s_.up.consume(head_bytes);
    watch_.disarm();
    const bool written = co_await write_all(shard_, client_, s_.answer);
    if (!written) co_return;
    Tunnel tunnel(shard_, client_, upstream_, std::move(s_.in), std::move(s_.up));
    co_await tunnel.run();
}

Task<> Relay::finish() {
    // An answer that is no refusal is no reason to keep the rest of the request from the origin.
    const bool wanted = answer_whole_ && s_.response.status < first_refusal && !stopped();
    const bool coming = !expects_ || continued_ || s_.request_body.taken() > 0;  // a final answer takes a 100's place
    if (wanted && coming && !request_sent() && pumping_) {
        if (answer_kind_ == BodyKind::until_close) client_.shut_down_write();
        co_await pumping_->wait_until_empty();
    }
    co_await stop_pump();
    if (!request_sent()) end_.body_unread = !s_.request_body.done();
    const bool reusable = answer_whole_ && keep_upstream_ > Millis{0} && request_sent() && s_.up.empty();
    if (reusable && upstream_.is_open()) {
        shard_.pool.give(*plan_.origin, std::move(upstream_), generation_, keep_upstream_);
        upstream_ = Stream();
    }
    upstream_.close();
}

void Relay::client_left() noexcept {
    client_gone_ = true;
    upstream_.cancel();
    client_.cancel();
}

// A client that leaves must not keep its origin at work. Looked at now and then: no system call a request.
void Relay::watch() noexcept {
    if (watch_.armed()) return;
    shard_.deadlines.arm(
        watch_, watch_every,
        [](void* relay) noexcept {
            auto& self = *static_cast<Relay*>(relay);
            if (self.client_.peer_left()) {
                self.client_left();
            } else {
                self.watch();
            }
        },
        this);
}

}  // namespace opid
