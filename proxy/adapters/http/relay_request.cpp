// The half of an exchange that goes to the origin: head, connection, body.
#include "adapters/http/local_answer.hpp"
#include "adapters/http/relay.hpp"
#include "core/http/chunk_writer.hpp"
#include "core/http/hop_by_hop.hpp"

namespace opid {

namespace {

constexpr std::size_t first_write_max = 64 * 1024;  // of the request: what goes out before an answer is looked for
constexpr Millis continue_after{1000};
constexpr std::string_view continue_line = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

void Relay::write_head() {
    http::RequestForwarding forwarding;
    forwarding.target = plan_.target;
    forwarding.host = plan_.host;
    forwarding.via = shard_.shared.options.via;
    forwarding.forwarded_for = plan_.forwarded_for;
    forwarding.trailers = true;
    if (websocket_) forwarding.upgrade = "websocket";
    s_.extra.clear();
    if (!plan_.credential_name.empty()) s_.extra.add(plan_.credential_name, plan_.credential_value);
    if (!plan_.max_forwards.empty()) s_.extra.add("Max-Forwards", plan_.max_forwards);
    if (!s_.extra.empty()) forwarding.extra = &s_.extra;
    s_.out.clear();
    http::write_request_head(s_.request, forwarding, s_.out);
}

// What has arrived of the body goes out with the head, in one write.
bool Relay::take_buffered_body() {
    http::ChunkWriter chunks;
    if (plan_.body && plan_.body->size() > first_write_max) return true;  // not copied; the pump has it
    if (plan_.body) {
        if (chunked_) {
            chunks.append(*plan_.body, s_.out);
            s_.out += chunks.finish();
        } else {
            s_.out += *plan_.body;
        }
        whole_ = true;
        return true;
    }
    BodyReader& body = s_.request_body;
    while (!body.done() && s_.out.size() < first_write_max) {
        const BodyReader::Piece piece = body.next_buffered(s_.in);
        if (piece.kind == BodyReader::Kind::blocked) break;
        if (piece.kind == BodyReader::Kind::refused) {
            end_.problem = problem_of(body.refusal());
            return false;
        }
        if (piece.kind == BodyReader::Kind::end) {
            if (chunked_) chunks.finish(body.trailers(), s_.out);
        } else if (chunked_) {
            chunks.append(piece.data, s_.out);
        } else {
            s_.out += piece.data;
        }
    }
    whole_ = body.done();
    return true;
}

bool Relay::reuse_connection() {
    auto pooled = shard_.pool.take(*plan_.origin, generation_);
    if (!pooled) return false;
    upstream_ = std::move(*pooled);
    reused_ = true;
    shard_.metrics.upstream_reuses.add();
    return true;
}

Task<bool> Relay::dial() {
    reused_ = false;
    Dialled dialled = co_await shard_.shared.parts.outbound.dialler().dial(*plan_.origin);
    if (dialled.failure) {
        shard_.metrics.upstream_connect_failures.add();
        end_.problem = problem_of(*dialled.failure);
        end_.body_unread = !whole_;
        co_return false;
    }
    shard_.metrics.upstream_connects.add();
    upstream_ = std::move(dialled.stream);
    co_return true;
}

void Relay::start_pump() {
    if (whole_ && sent_ == s_.out.size()) return;
    pump_done_ = false;
    pumping_.emplace(shard_.context.get_executor());
    pumping_->start(pump());
    if (!expects_ || whole_) return;
    shard_.deadlines.arm(
        expect_, continue_after,
        [](void* relay) noexcept {
            auto& self = *static_cast<Relay*>(relay);
            if (self.answered_ || self.continued_ || self.s_.request_body.taken() > 0) return;
            self.continued_ = true;
            self.client_.write_now(continue_line);
        },
        this);
}

// What the first write left of the head and of what had arrived of the body.
Task<bool> Relay::write_rest() {
    StreamDeadline stalled;
    while (sent_ < s_.out.size()) {
        const Io io = upstream_.write_now(std::string_view(s_.out).substr(sent_));
        if (io.state == Io::State::done) {
            sent_ += io.bytes;
            continue;
        }
        if (!io.blocked()) co_return false;
        stalled.arm(shard_.deadlines, upstream_, shard_.shared.options.timeouts.write_stall);
        auto ready = upstream_.wait(io.state);
        co_await std::move(ready);
        if (stalled.expired() || pump_stop_ || client_gone_) co_return false;
        stalled.disarm();
    }
    co_return true;
}

// The rest of the request, beside the answer: an origin may answer before it has all of it, and may want the rest all
// the same (1xx, an early head).
Task<> Relay::pump() {
    const bool begun = co_await write_rest();
    if (begun && !whole_) {
        if (plan_.body) {
            co_await pump_buffered_body();
        } else {
            co_await pump_body();
        }
    }
    // It takes no more. It may answer all the same, but not for ever.
    if (!request_sent() && !pump_stop_) {
        const Millis patience = shard_.shared.options.timeouts.write_stall;
        shard_.deadlines.arm(
            given_up_, patience,
            [](void* relay) noexcept {
                auto& self = *static_cast<Relay*>(relay);
                self.origin_stalled_ = true;
                self.upstream_.cancel();
            },
            this);
    }
}

Task<> Relay::pump_buffered_body() {
    http::ChunkWriter chunks;
    const std::string_view body = *plan_.body;
    shard_.metrics.bytes_to_upstream.add(body.size());
    Pieces pieces{body};
    std::string tail;
    if (chunked_) {
        tail = http::ChunkWriter::after_data;
        pieces = Pieces{chunks.before_data(body.size()), body, {}};
        tail += chunks.finish();
        pieces[2] = tail;
    }
    pump_done_ = co_await write_pieces(shard_, upstream_, pieces, &pump_stop_);
}

Task<> Relay::pump_body() {
    http::ChunkWriter chunks;
    BodyReader& body = s_.request_body;
    StreamDeadline stalled;
    std::string tail;
    while (!pump_stop_) {
        const BodyReader::Piece piece = body.next(s_.in, client_, shard_.buffers);
        if (piece.kind == BodyReader::Kind::blocked) {
            stalled.arm(shard_.deadlines, client_, shard_.shared.options.timeouts.body_stall);
            auto ready = client_.wait(piece.wait);
            co_await std::move(ready);
            if (stalled.expired()) {
                body_stalled_ = true;
                upstream_.cancel();
                break;
            }
            stalled.disarm();
            continue;
        }
        Pieces pieces{piece.data};
        if (piece.kind == BodyReader::Kind::data) {
            shard_.metrics.bytes_to_upstream.add(piece.data.size());
            if (chunked_)
                pieces = Pieces{chunks.before_data(piece.data.size()), piece.data, http::ChunkWriter::after_data};
        } else if (piece.kind == BodyReader::Kind::end) {
            if (chunked_) chunks.finish(body.trailers(), tail);
            pieces = Pieces{tail};
        } else if (piece.kind == BodyReader::Kind::refused) {
            bad_body_ = true;
            upstream_.close();
            break;
        } else {
            client_left();
            break;
        }
        const bool written = co_await write_pieces(shard_, upstream_, pieces, &pump_stop_);
        if (!written) break;  // whoever reads the answer finds out why
        if (piece.kind == BodyReader::Kind::end) {
            pump_done_ = true;
            break;
        }
    }
}

Task<> Relay::stop_pump() {
    given_up_.disarm();
    if (!pumping_ || pumping_->running() == 0) co_return;
    pump_stop_ = true;
    client_.cancel();
    upstream_.cancel();
    co_await pumping_->wait_until_empty();
    pump_stop_ = false;
}

}  // namespace opid
