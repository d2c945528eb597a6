#include "adapters/http/guarded_path.hpp"

#include "adapters/http/caller_sink.hpp"
#include "adapters/http/local_answer.hpp"
#include "base/encoding.hpp"
#include "core/answer/jsonrpc_id.hpp"

namespace opid {

namespace {

constexpr std::string_view continue_line = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::string_view body_too_large_text =
    "Do not retry this request as it is: its body is larger than limits.request_body. Nothing was sent.";

// One guarded request more, for as long as this lives.
class Place {
public:
    Place(std::atomic<std::size_t>& taken, std::size_t limit) : taken_(taken) {
        had_ = taken_.fetch_add(1, std::memory_order_relaxed) < limit;
    }
    ~Place() { taken_.fetch_sub(1, std::memory_order_relaxed); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    bool had() const { return had_; }

private:
    std::atomic<std::size_t>& taken_;
    bool had_;
};

}  // namespace

GuardedPath::GuardedPath(IoShard& shard, Stream& client, Scratch& scratch, const Route& route, std::string tenant,
                         std::string_view peer)
    : shard_(shard),
      client_(client),
      s_(scratch),
      route_(route),
      tenant_(std::move(tenant)),
      peer_(peer),
      spool_(shard.shared.bodies, shard.shared.spooled, shard.shared.options.spool_directory,
             shard.shared.options.limits.memory_body, shard.shared.options.limits.request_body) {}

GuardedPath::~GuardedPath() {
    if (!through_used_) return;
    shard_.buffers.give(std::move(s_.in));
    s_.in = std::move(through_);
}

GuardedPath::End GuardedPath::problem(ProblemKind kind, std::string detail) {
    End end;
    end.kind = End::Kind::problem;
    end.problem = make_problem(kind, std::move(detail));
    end.keep = s_.request.keep_alive && !close_;
    end.body_unread = !s_.request_body.done();
    if (matched_.rule != nullptr) {
        end.dialect = matched_.rule->problems;
        end.problem.operation_id = named_by_header();
    }
    if (body_read_ && end.dialect == ProblemDialect::jsonrpc) {
        look_into_body();
        if (content_) end.jsonrpc_id = read_jsonrpc_id(*content_);
        leave_body();
    }
    return end;
}

void GuardedPath::look_into_body() {
    content_ = content_of(s_.request.fields, body_, shard_.shared.options.limits.decoded_body, decoded_);
}

// What was decoded counts against no bound, so it never outlives the moment in which it is looked into: a thread holds
// one such body at most.
void GuardedPath::leave_body() {
    content_ = std::string_view();
    decoded_ = std::string();
}

// The operation ID as far as the head tells it; for answers that come before or without the engine.
std::string GuardedPath::named_by_header() const {
    if (identity_.id) return identity_.id->value();
    const Result<RequestIdentity> found = find_identity(*matched_.rule, s_.request.fields, route_.target, std::nullopt);
    return found && found->id ? found->id->value() : std::string();
}

GuardedPath::End GuardedPath::relay() {
    End end;
    end.kind = End::Kind::relay;
    if (body_read_) end.body = body_;
    leave_body();
    return end;
}

Task<GuardedPath::End> GuardedPath::run() {
    const Profile& profile = *route_.origin.profile;
    const http::RequestHead& head = s_.request;
    if (head.framing.has_body() && matching_needs_body(profile, head.method, route_.target)) {
        std::optional<End> refused = co_await read_body();
        if (refused) co_return std::move(*refused);
        look_into_body();
    }
    if (std::optional<End> decided = check_rule()) co_return std::move(*decided);
    const Place place(shard_.shared.guarded, shard_.shared.options.limits.guarded_in_flight);
    if (!place.had())
        co_return problem(ProblemKind::overloaded,
                          "Too many writes are running. Nothing was sent: retry with the same ID.");
    if (std::optional<End> decided = check_identity()) co_return std::move(*decided);
    if (!body_read_) {
        std::optional<End> refused = co_await read_body();
        if (refused) co_return std::move(*refused);
        if (identity_.body_undecided) {
            look_into_body();
            if (std::optional<End> decided = check_identity()) co_return std::move(*decided);
        }
    }
    leave_body();
    if (reads_a_trailer(*matched_.rule, s_.request_body.all_trailers())) {
        co_return problem(
            ProblemKind::bad_request,
            "A trailer carries a field that decides about this write. Send it as a header. Nothing was sent.");
    }
    if (identity_.step) {
        std::optional<End> refused = co_await name_by_step();
        if (refused) co_return std::move(*refused);
    }
    End end = co_await execute();
    co_return end;
}

std::optional<GuardedPath::End> GuardedPath::check_rule() {
    const http::RequestHead& head = s_.request;
    RequestView view;
    view.method = head.method;
    view.target = route_.target;
    view.fields = &head.fields;
    view.body = content_ ? *content_ : std::string_view();
    matched_ = match_rule(*route_.origin.profile, view);
    if (matched_.request_class == RequestClass::read) return relay();
    if (matched_.allowed) return std::nullopt;
    return problem(ProblemKind::not_allowed,
                   "The profile " + route_.origin.profile->provider + " allows no such write (rule " +
                       matched_.rule->name +
                       "). Nothing was sent; the same request will not be let through later either.");
}

std::optional<GuardedPath::End> GuardedPath::check_identity() {
    std::optional<std::string_view> content;
    if (body_read_ && content_) content = *content_;
    Result<RequestIdentity> found = find_identity(*matched_.rule, s_.request.fields, route_.target, content);
    if (!found) {
        return problem(
            ProblemKind::operation_id_invalid,
            "Correct the operation ID and send the request again; nothing was sent. " + found.error().what() + ".");
    }
    identity_ = std::move(*found);
    if (identity_.body_undecided && !content_) {
        return problem(ProblemKind::operation_id_invalid,
                       "The body may carry the operation ID, and it can't be read: " + content_.error().what() +
                           ". Nothing was sent: send the ID as the header Operation-Id, or the body uncompressed.");
    }
    if (identity_.id || identity_.step || identity_.body_undecided) return std::nullopt;
    switch (matched_.rule->identity.missing) {
        case MissingIdentity::pass: return relay();
        case MissingIdentity::observe:
            shard_.shared.parts.observer.trouble(
                "identity", "a write without an operation ID was let through: " + route_.origin.profile->provider +
                                "/" + matched_.rule->name);
            return relay();
        case MissingIdentity::reject: break;
    }
    return problem(
        ProblemKind::operation_id_missing,
        "This is a write, and it has no operation ID. Nothing was sent. Choose one ID for this one action, send it "
        "as the header Operation-Id, and send the same one with every retry of the same action.");
}

std::optional<GuardedPath::End> GuardedPath::body_problem(const Error& error) {
    close_ = true;
    switch (error.kind()) {
        case ErrorKind::invalid: return problem(ProblemKind::body_too_large, std::string(body_too_large_text));
        case ErrorKind::overloaded:
            return problem(ProblemKind::overloaded,
                           "Too many request bytes are held now. Nothing was sent: retry with the same ID.");
        case ErrorKind::not_found:
        case ErrorKind::conflict:
        case ErrorKind::unavailable:
        case ErrorKind::indeterminate:
        case ErrorKind::timeout:
        case ErrorKind::internal: break;
    }
    shard_.shared.parts.observer.trouble("spool", error.what());
    return problem(ProblemKind::store_unavailable,
                   "The body could not be spooled to disk. Nothing was sent: retry with the same ID.");
}

Task<std::optional<GuardedPath::End>> GuardedPath::read_body() {
    const http::Framing& framing = s_.request.framing;
    if (framing.kind == http::BodyKind::length && framing.length > shard_.shared.options.limits.request_body) {
        close_ = true;
        co_return problem(ProblemKind::body_too_large, std::string(body_too_large_text));
    }
    BodyReader& reader = s_.request_body;
    through_used_ = true;
    through_ = s_.in.size() > BufferPool::small_bytes ? shard_.buffers.take_large() : shard_.buffers.take_small();
    through_.append(s_.in.view());
    s_.in.consume(s_.in.size());  // not overwritten before this object goes
    if (s_.request.expect_continue && through_.empty() && !reader.done()) {
        const bool asked = co_await write_all(shard_, client_, continue_line);
        if (!asked) close_ = true;
    }
    StreamDeadline stalled;
    std::optional<End> refused;
    while (!reader.done() && !refused) {
        const BodyReader::Piece piece = reader.next(through_, client_, shard_.buffers);
        switch (piece.kind) {
            case BodyReader::Kind::data: {
                const Status kept = spool_.append(piece.data);
                if (!kept) refused = body_problem(kept.error());
                break;
            }
            case BodyReader::Kind::end: break;
            case BodyReader::Kind::blocked: {
                stalled.arm(shard_.deadlines, client_, shard_.shared.options.timeouts.body_stall);
                auto ready = client_.wait(piece.wait);
                co_await std::move(ready);
                if (stalled.expired()) {
                    close_ = true;
                    refused = problem(ProblemKind::request_timeout,
                                      "The body stopped arriving. Nothing was sent: retry with the same ID.");
                }
                stalled.disarm();
                break;
            }
            case BodyReader::Kind::refused:
                close_ = true;
                refused = problem(ProblemKind::bad_request, {});
                refused->problem = problem_of(reader.refusal());
                break;
            case BodyReader::Kind::cut:
            case BodyReader::Kind::failed:
                shard_.metrics.clients_gone.add();
                client_.close();
                refused = End();  // nobody is left to answer
                break;
        }
    }
    if (refused) co_return refused;
    const Result<std::string_view> whole = spool_.finish();
    if (!whole) co_return body_problem(whole.error());
    body_ = *whole;
    body_read_ = true;
    co_return std::nullopt;
}

Task<std::optional<GuardedPath::End>> GuardedPath::name_by_step() {
    std::string proposed = identity_.id ? identity_.id->value()
                                        : "op_" + base32hex(shard_.shared.parts.entropy.bytes(16));
    auto allocating = shard_.shared.parts.store.allocate_step(tenant_, identity_.step->value(), std::move(proposed));
    const Result<std::string> id = co_await std::move(allocating);
    if (!id) {
        co_return problem(ProblemKind::store_unavailable,
                          "The step could not be recorded. Nothing was sent: retry with the same step.");
    }
    if (identity_.id && identity_.id->value() != *id) {
        co_return problem(ProblemKind::operation_id_invalid,
                          "Operation-Step names another operation than Operation-Id. Nothing was sent: send one of the "
                          "two, or the ID that the step was given.");
    }
    identity_.id = OperationId(*id);
    co_return std::nullopt;
}

GuardedWrite GuardedPath::make_write() {
    const http::RequestHead& head = s_.request;
    GuardedWrite write;
    write.tenant = tenant_;
    write.profile = route_.origin.profile;
    write.rule = matched_.rule;
    write.captures = std::move(matched_.captures);
    write.id = std::move(*identity_.id);
    write.native_key = identity_.native_key;
    write.intent = make_intent(head, route_, *matched_.rule, body_);
    ForwardedFields forwarding;
    forwarding.via = shard_.shared.options.via;
    if (route_.reverse) forwarding.forwarded_for = peer_;
    if (route_.origin.profile->credentials) forwarding.credentials = &*route_.origin.profile->credentials;
    write.fields = forwarded_fields(head, forwarding);
    write.caller_keys = caller_keys(*matched_.rule, head.fields, write.intent);
    write.chunked = head.framing.kind == http::BodyKind::chunked;
    write.no_length = head.framing.kind == http::BodyKind::none;
    write.wait = requested_wait(head.fields);
    write.accept_encoding_present = head.fields.has("accept-encoding");
    write.accept_encoding = head.fields.joined("accept-encoding");
    if (write.intent.content_coding.empty()) write.jsonrpc_id = read_jsonrpc_id(body_);
    return write;
}

Task<GuardedPath::End> GuardedPath::execute() {
    shard_.metrics.guarded.add();
    const http::RequestHead& head = s_.request;
    const bool keep_alive = head.keep_alive && !close_;
    const bool head_only = head.method == "HEAD";
    const std::uint8_t minor = head.minor;
    GuardedWrite write = make_write();
    CallerSink sink(shard_, client_, minor, keep_alive);
    auto handling = shard_.shared.parts.guarded(std::move(write), &sink);
    const GuardedAnswer outcome = co_await std::move(handling);
    End end;
    if (outcome.streamed) {
        end.keep = sink.keep();
        co_return end;
    }
    end.keep = keep_alive && !shard_.draining();
    AnswerFraming framing;
    framing.close = !end.keep;
    framing.http10 = minor == 0;
    framing.head_only = head_only;
    framing.date = shard_.date();
    framing.via = shard_.shared.options.via;
    s_.answer.clear();
    write_answer(outcome.answer, framing, s_.answer);
    const bool written = co_await write_all(shard_, client_, s_.answer);
    if (!written) {
        shard_.metrics.clients_gone.add();
        end.keep = false;
    }
    co_return end;
}

}  // namespace opid
