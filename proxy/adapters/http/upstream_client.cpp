#include "adapters/http/upstream_client.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <tuple>

#include "adapters/http/body_reader.hpp"
#include "adapters/http/request_writer.hpp"
#include "adapters/net/task_group.hpp"
#include "adapters/system/steady_clock.hpp"
#include "base/encoding.hpp"
#include "core/http/hop_by_hop.hpp"
#include "core/http/response_head.hpp"
#include "core/identity/canonical_form.hpp"

namespace opid {

namespace asio = boost::asio;

namespace {

constexpr std::size_t interim_chars_max = 128;
constexpr Millis rest_patience{5'000};  // with a provider that has answered and takes nothing more

}  // namespace

// One exchange from its connection to the end of its answer.
class UpstreamClient::Sending {
public:
    Sending(UpstreamClient& client, const OutboundRequest& request, ResponseSink* sink, Origin origin,
            asio::io_context& context)
        : client_(client),
          request_(request),
          sink_(sink),
          origin_(std::move(origin)),
          context_(context),
          deadlines_(deadlines_of(context)),
          pool_(pool_of(context)),
          generation_(client.generation_.load(std::memory_order_relaxed)),
          body_(http::MessageSide::response, client.limits_) {}

    Task<Exchange> run();

private:
    Task<bool> connect(bool fresh);
    void reach(Stage stage) { exchange_.evidence.stage = std::max(exchange_.evidence.stage, stage); }
    Io write_some();
    Task<bool> write();
    Task<> write_rest();
    Task<> end_writing();
    void patience_for_rest();
    Task<bool> read_head();
    Task<bool> take_head(std::size_t bytes);
    Task<bool> read_body();
    Task<bool> ready(Io::State state);
    Millis time_left() const;
    bool fail(std::string_view what);
    std::string last_word();
    void note_interim();

    UpstreamClient& client_;
    const OutboundRequest& request_;
    ResponseSink* sink_;
    Origin origin_;
    asio::io_context& context_;
    Deadlines& deadlines_;
    ConnectionPool& pool_;
    std::uint64_t generation_;
    Stream stream_;
    StreamDeadline deadline_;
    BufferPool buffers_;
    Buffer in_;
    http::ResponseHead head_;
    BodyReader body_;
    Exchange exchange_;
    RequestWriter out_;
    std::optional<TaskGroup> writing_;
    std::uint32_t interim_ = 0;
    bool refused_ = false;  // the provider has said no: the rest of the request is no longer sent
    bool reused_ = false;
    bool final_ = false;
    bool streaming_ = false;
    Millis keep_{0};
    SteadyInstant since_ = steady_now();
};

bool UpstreamClient::Sending::fail(std::string_view what) {
    if (exchange_.evidence.failure.empty()) exchange_.evidence.failure = std::string(what);
    stream_.close();
    return false;
}

Task<Exchange> UpstreamClient::Sending::run() {
    bool fresh = false;
    bool sent = false;
    for (;;) {
        const bool connected = co_await connect(fresh);
        if (!connected) co_return std::move(exchange_);
        sent = co_await write();
        // Not one byte got into a connection that had rested: nothing was sent, so a new one may be tried.
        const bool untouched = !sent && reused_ && exchange_.evidence.bytes_sent == 0;
        if (!untouched) break;
        exchange_ = Exchange();
        fresh = true;
    }
    if (sent) {
        in_ = buffers_.take_small();
        if (!out_.all_out()) {
            writing_.emplace(context_.get_executor());
            writing_->start(write_rest());
        }
        const bool answered = co_await read_head();
        if (answered) co_await read_body();
        co_await end_writing();
    }
    if (exchange_.answered && out_.all_out() && in_.empty() && keep_ > Millis{0}) {
        pool_.give(origin_, std::move(stream_), generation_, keep_);
        stream_ = Stream();
    }
    stream_.close();
    co_return std::move(exchange_);
}

Task<bool> UpstreamClient::Sending::connect(bool fresh) {
    Evidence& evidence = exchange_.evidence;
    reused_ = false;
    if (!fresh) {
        auto rested = pool_.take(origin_, generation_, rest_max);
        if (rested) {
            client_.reuses_.fetch_add(1, std::memory_order_relaxed);
            stream_ = std::move(*rested);
            reused_ = true;
            evidence.stage = origin_.tls ? Stage::tls_done : Stage::connected;
            co_return true;
        }
    }
    Dialled dialled = co_await client_.outbound_.dialler().dial(origin_);
    since_ = steady_now();
    if (dialled.failure) {
        client_.failures_.fetch_add(1, std::memory_order_relaxed);
        evidence.stage = dialled.failure->stage;
        evidence.failure = dialled.failure->words;
        co_return false;
    }
    client_.connects_.fetch_add(1, std::memory_order_relaxed);
    stream_ = std::move(dialled.stream);
    evidence.stage = origin_.tls ? Stage::tls_done : Stage::connected;
    co_return true;
}

// What is left for the whole answer. An answer that streams to the caller may go on for hours: there the time bounds
// each silence.
Millis UpstreamClient::Sending::time_left() const {
    if (streaming_) return request_.response_timeout;
    const auto passed = std::chrono::duration_cast<Millis>(steady_now() - since_);
    return std::max(Millis{0}, request_.response_timeout - passed);
}

// Waits for the stream; false when the time is over.
Task<bool> UpstreamClient::Sending::ready(Io::State state) {
    deadline_.arm(deadlines_, stream_, time_left());
    auto waiting = stream_.wait(state);
    co_await std::move(waiting);
    const bool in_time = !deadline_.expired();
    deadline_.disarm();
    co_return in_time;
}

// Why a connection took not one byte: a provider that refuses it says so before it closes.
std::string UpstreamClient::Sending::last_word() {
    char byte = 0;
    stream_.read_now(&byte, 1);
    return stream_.certificate_refused() ? "tls: " + stream_.tls_trouble() : std::string("reset");
}

// One attempt to get more of the request out.
Io UpstreamClient::Sending::write_some() {
    const Io io = out_.write_some(stream_);
    exchange_.evidence.bytes_sent = out_.bytes_out();
    if (io.state == Io::State::done) reach(Stage::head_written);
    if (out_.all_out()) reach(Stage::body_written);
    return io;
}

// True when the request is on its way: out as a whole, or as far as the connection takes it for now.
Task<bool> UpstreamClient::Sending::write() {
    out_.start(request_, origin_.authority_text());
    while (!out_.all_out()) {
        const Io io = write_some();
        if (io.state == Io::State::done) continue;
        if (out_.bytes_out() > 0) co_return true;  // what isn't blocked may have been answered: reading tells
        if (!io.blocked()) co_return fail(last_word());
        const bool in_time = co_await ready(io.state);
        if (!in_time) {
            // TLS may have put part of a record on the wire: never counted as nothing.
            reach(Stage::head_written);
            co_return fail("timeout");
        }
    }
    co_return true;
}

// Beside the answer: a provider may answer before it has the whole request (1xx, an early head) and may want the rest
// all the same. Ends when it takes no more, when it has refused the request, and with the answer's deadline.
Task<> UpstreamClient::Sending::write_rest() {
    while (!out_.all_out() && !refused_) {
        const Io io = write_some();
        if (io.state == Io::State::done) continue;
        if (!io.blocked()) break;
        patience_for_rest();
        auto waiting = stream_.wait(io.state);
        const std::tuple<boost::system::error_code> waited = co_await std::move(waiting);
        if (std::get<0>(waited)) break;
    }
}

// An answer that is no refusal is no reason to keep the rest of the request from the provider. But a known outcome has
// to be recorded soon: a provider that takes nothing more has had what it wants.
void UpstreamClient::Sending::patience_for_rest() {
    if (exchange_.answered && !refused_) deadline_.arm(deadlines_, stream_, std::min(rest_patience, time_left()));
}

Task<> UpstreamClient::Sending::end_writing() {
    if (!writing_) co_return;
    if (exchange_.answered && !refused_) {
        if (streaming_) since_ = steady_now();  // each silence was bounded so far, from here on the whole is
        streaming_ = false;
        patience_for_rest();
    } else {
        refused_ = true;
        stream_.cancel();
    }
    co_await writing_->wait_until_empty();
    deadline_.disarm();
}

void UpstreamClient::Sending::note_interim() {
    std::string& seen = exchange_.evidence.interim;
    if (seen.size() >= interim_chars_max) return;
    if (!seen.empty()) seen += ',';
    seen += std::to_string(head_.status);
}

Task<bool> UpstreamClient::Sending::read_head() {
    http::HeadProgress progress;
    for (;;) {
        if (!in_.empty()) {
            const auto parse = http::parse_response_head(in_.view(), client_.limits_, request_.method, head_, progress);
            if (parse.outcome == http::ParseOutcome::refused) co_return fail("malformed answer");
            if (parse.outcome == http::ParseOutcome::complete) {
                progress = {};
                const bool going = co_await take_head(parse.consumed);
                if (!going || final_) co_return going;
                continue;
            }
            if (in_.room_size() == 0) buffers_.grow(in_);
        }
        deadline_.arm(deadlines_, stream_, time_left());
        auto reading = stream_.read(in_.room(), in_.room_size());
        const Io io = co_await std::move(reading);
        const bool late = deadline_.expired();
        deadline_.disarm();
        if (io.state == Io::State::done) {
            reach(Stage::first_byte);
            in_.commit(io.bytes);
            continue;
        }
        if (late) co_return fail("timeout");
        if (stream_.certificate_refused()) {
            // The provider never took the connection for one: what went into it was not looked at.
            exchange_.evidence.stage = Stage::connected;
            exchange_.evidence.bytes_sent = 0;
            co_return fail("tls: " + stream_.tls_trouble());
        }
        const bool nothing = exchange_.evidence.stage < Stage::first_byte;
        co_return fail(io.state == Io::State::failed ? "reset" : nothing ? "closed without an answer" : "cut");
    }
}

Task<bool> UpstreamClient::Sending::take_head(std::size_t bytes) {
    if (head_.interim()) {
        note_interim();
        in_.consume(bytes);
        if (++interim_ > client_.limits_.interim_responses) co_return fail("too many interim answers");
        co_return true;
    }
    exchange_.evidence.http_status = head_.status;
    refused_ = head_.status >= 400;
    if (head_.status == 101) co_return fail("unexpected 101");
    InboundResponse& response = exchange_.response;
    response.status = head_.status;
    response.reason = std::string(head_.reason);
    for (const http::Field& field : head_.fields) {
        if (http::is_for_the_client(head_, field.name)) response.fields.emplace_back(field.name, field.value);
    }
    if (head_.reusable) {
        const auto hint = head_.fields.get("keep-alive");
        keep_ = hint ? keep_hint(*hint) : ConnectionPool::idle_limit;
    }
    const bool events = media_essence(head_.fields.get("content-type").value_or("")) == "text/event-stream";
    body_.start(head_.framing);
    const std::uint64_t length = head_.framing.length;
    in_.consume(bytes);
    final_ = true;
    if (sink_ != nullptr && sink_->wants(response, events, length)) {
        streaming_ = true;
        co_await sink_->head(response);
    }
    co_return true;
}

Task<bool> UpstreamClient::Sending::read_body() {
    InboundResponse& response = exchange_.response;
    Sha256 digest;
    for (;;) {
        const BodyReader::Piece piece = body_.next(in_, stream_, buffers_);
        if (piece.kind == BodyReader::Kind::end) break;
        if (piece.kind == BodyReader::Kind::data) {
            digest.update(piece.data);
            response.body_size += piece.data.size();
            if (sink_ != nullptr && !streaming_ && sink_->wants(response, false, response.body_size)) {
                // Longer than was announced, or not announced: what came so far goes first.
                streaming_ = true;
                co_await sink_->head(response);
                co_await sink_->data(response.body);
            }
            if (response.body_kept && response.body_size > request_.body_max) {
                response.body_kept = false;
                response.body = std::string();
            }
            if (response.body_kept) response.body.append(piece.data);
            if (streaming_) co_await sink_->data(piece.data);
            continue;
        }
        if (piece.kind == BodyReader::Kind::blocked) {
            const bool in_time = co_await ready(piece.wait);
            if (!in_time) co_return fail("timeout");
            continue;
        }
        const std::string_view what = piece.kind == BodyReader::Kind::refused  ? "malformed answer"
                                      : piece.kind == BodyReader::Kind::failed ? "reset"
                                                                               : "cut";
        co_return fail(what);
    }
    response.body_digest = digest.finish();
    exchange_.evidence.stage = Stage::answered;
    exchange_.answered = true;
    co_return true;
}

namespace {

// Where the request goes: the place that its intent names, else the profile's upstream.
std::optional<Origin> origin_of(const OutboundRequest& request) {
    std::optional<Origin> origin;
    const std::string_view place = request.scheme_authority;
    const std::size_t mark = place.find("://");
    if (mark != std::string_view::npos) {
        origin = Origin::make(place.substr(0, mark) != "http", place.substr(mark + 3), request.profile);
    }
    if (!origin) origin = Origin::upstream_of(request.profile);
    // Guarded traffic shares no connection with what merely passes through.
    if (origin) origin->pool_key.insert(0, "g ");
    return origin;
}

Exchange without_place() {
    Exchange exchange;
    exchange.evidence.failure = "the profile's upstream is malformed";
    return exchange;
}

}  // namespace

Task<Exchange> UpstreamClient::send(const OutboundRequest& request, ResponseSink* sink) {
    std::optional<Origin> origin = origin_of(request);
    if (!origin) co_return without_place();
    const Executor executor = co_await asio::this_coro::executor;
    auto& context = static_cast<asio::io_context&>(executor.context());
    Sending sending(*this, request, sink, std::move(*origin), context);
    co_return co_await sending.run();
}

Task<Exchange> UpstreamClient::look_up(const LookUpRequest& look_up) {
    OutboundRequest request;
    request.profile = look_up.profile;
    request.scheme_authority = look_up.scheme_authority;
    request.method = "GET";
    request.target = look_up.target;
    request.fields = look_up.fields;
    request.no_length = true;
    request.response_timeout = look_up.timeout;
    request.body_max = look_up.body_max;
    Exchange exchange = co_await send(request, nullptr);
    co_return exchange;
}

}  // namespace opid
