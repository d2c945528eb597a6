#include "core/operation/record_codec.hpp"

#include <algorithm>
#include <limits>

#include <google/protobuf/arena.h>

#include "record.pb.h"

namespace opid {
namespace {

namespace pb = record_v1;

// Far above what the limits of a request and an answer let into a record; a record is read into memory whole.
constexpr std::size_t record_bytes_max = 32 * 1024 * 1024;
constexpr int fields_max = 8192;
constexpr int attempts_read_max = 1024;
constexpr int events_read_max = 65536;

Error bad(std::string_view field) { return {ErrorKind::invalid, "stored record: " + std::string(field)}; }

// Each take() returns the name of the field that is wrong, or nullptr.

using Wrong = const char*;

template <std::size_t n>
bool take_bytes(std::array<std::uint8_t, n>& out, const std::string& in) {
    if (in.size() != n) return false;
    std::copy(in.begin(), in.end(), out.begin());
    return true;
}

bool known_status(std::uint32_t value) {
    return value >= static_cast<std::uint32_t>(OperationStatus::prepared) &&
           value <= static_cast<std::uint32_t>(OperationStatus::cancelled);
}

Wrong take(Payload& out, const pb::Payload& in) {
    if (!take_bytes(out.digest, in.digest())) return "payload digest";
    out.size = in.size();
    out.kept = in.kept();
    out.external = in.external();
    out.bytes = in.content();
    if (out.external && !out.kept) return "payload that is external but not kept";
    if (out.kept && !out.external && out.bytes.size() != out.size) return "payload size";
    if ((!out.kept || out.external) && !out.bytes.empty()) return "payload content that should not be there";
    return nullptr;
}

template <class Message>
Wrong take_headers(StoredFields& out, const Message& in) {
    if (in.headers_size() > fields_max) return "too many headers";
    out.reserve(static_cast<std::size_t>(in.headers_size()));
    for (const pb::Field& field : in.headers()) out.emplace_back(field.name(), field.value());
    return nullptr;
}

Wrong take(RecordedIntent& out, const pb::Intent& in) {
    out.method = in.method();
    out.scheme_authority = in.scheme_authority();
    out.target = in.target();
    if (const Wrong wrong = take_headers(out.headers, in)) return wrong;
    return take(out.body, in.body());
}

Wrong take(RecordedResponse& out, const pb::Response& in) {
    if (in.status() > 999) return "response status";
    out.status = static_cast<int>(in.status());
    out.reason = in.reason();
    out.recovered = in.recovered();
    if (const Wrong wrong = take_headers(out.headers, in)) return wrong;
    return take(out.body, in.body());
}

Wrong take(Attempt& out, const pb::Attempt& in) {
    if (in.kind() < 1 || in.kind() > 2) return "attempt kind";
    if (in.evidence().stage() > static_cast<std::uint32_t>(Stage::answered)) return "attempt stage";
    if (in.evidence().http_status() > 999) return "attempt http status";
    if (in.verdict() > static_cast<std::uint32_t>(Verdict::replayed)) return "attempt verdict";
    out.id = in.id();
    out.kind = static_cast<AttemptKind>(in.kind());
    out.started = from_unix_ms(in.started());
    if (in.has_ended()) out.ended = from_unix_ms(in.ended());
    out.key_generation = in.key_generation();
    out.evidence.stage = static_cast<Stage>(in.evidence().stage());
    out.evidence.bytes_sent = in.evidence().bytes_sent();
    out.evidence.http_status = static_cast<int>(in.evidence().http_status());
    out.evidence.failure = in.evidence().failure();
    out.evidence.interim = in.evidence().interim();
    out.evidence.provider_replayed = in.evidence().provider_replayed();
    if (in.verdict() != 0) out.verdict = static_cast<Verdict>(in.verdict());
    return nullptr;
}

Wrong take(HistoryEvent& out, const pb::HistoryEvent& in) {
    if (!known_status(in.from()) || !known_status(in.to())) return "history status";
    out.sequence = in.sequence();
    out.at = from_unix_ms(in.at());
    out.what = in.what();
    out.actor = in.actor();
    out.from = static_cast<OperationStatus>(in.from());
    out.to = static_cast<OperationStatus>(in.to());
    out.detail = in.detail();
    return nullptr;
}

Wrong take_identity(Operation& out, const pb::Record& in) {
    if (!take_bytes(out.key.bytes, in.key())) return "key";
    if (in.version() == 0) return "version";
    if (!take_bytes(out.digest, in.digest())) return "digest";
    if (!take_bytes(out.raw_digest, in.raw_digest())) return "raw digest";
    out.version = in.version();
    out.tenant = in.tenant();
    out.scope = in.scope();
    out.id = in.id();
    out.provider = in.provider();
    out.rule = in.rule();
    out.profile_digest = in.profile_digest();
    return take(out.intent, in.intent());
}

Wrong take_progress(Operation& out, const pb::Record& in) {
    if (!known_status(in.status())) return "status";
    if (in.next_step().kind() > static_cast<std::uint32_t>(NextStepKind::approval)) return "next step";
    out.status = static_cast<OperationStatus>(in.status());
    out.doubt = in.doubt();
    out.keyed_retry_closed = in.keyed_retry_closed();
    out.sends = in.sends();
    out.key_generation = in.key_generation();
    out.provider_key = in.provider_key();
    out.key_carrier = in.key_carrier();
    out.provider_ref = in.provider_ref();
    if (in.has_first_sent()) out.first_sent = from_unix_ms(in.first_sent());
    if (in.has_retry_not_before()) out.retry_not_before = from_unix_ms(in.retry_not_before());
    out.look_ups = in.look_ups();
    out.owner.node = in.owner().node();
    out.owner.epoch = in.owner().epoch();
    out.owner.lease_until = from_unix_ms(in.owner().lease_until());
    out.next_step.kind = static_cast<NextStepKind>(in.next_step().kind());
    out.next_step.at = from_unix_ms(in.next_step().at());
    out.created = from_unix_ms(in.created());
    out.updated = from_unix_ms(in.updated());
    out.history_length = in.history_length();
    return nullptr;
}

Wrong take_parts(Operation& out, const pb::Record& in) {
    if (in.attempts_size() > attempts_read_max) return "too many attempts";
    out.attempts.resize(static_cast<std::size_t>(in.attempts_size()));
    for (int i = 0; i < in.attempts_size(); ++i) {
        if (const Wrong wrong = take(out.attempts[static_cast<std::size_t>(i)], in.attempts(i))) return wrong;
    }
    if (in.has_response()) {
        if (const Wrong wrong = take(out.response.emplace(), in.response())) return wrong;
    }
    if (in.has_approval()) {
        ApprovalRecord& approval = out.approval.emplace();
        approval.approver = in.approval().approver();
        approval.digest_hex = in.approval().digest_hex();
        approval.scope = in.approval().scope();
        approval.granted = from_unix_ms(in.approval().granted());
        approval.expires = from_unix_ms(in.approval().expires());
    }
    if (in.history_size() > events_read_max) return "too many events";
    if (in.history_length() < static_cast<std::uint64_t>(in.history_size())) return "history length";
    out.history.resize(static_cast<std::size_t>(in.history_size()));
    for (int i = 0; i < in.history_size(); ++i) {
        if (const Wrong wrong = take(out.history[static_cast<std::size_t>(i)], in.history(i))) return wrong;
    }
    return nullptr;
}

// One stack block holds the messages of an ordinary record, so that only long texts reach the heap.
class ScratchArena {
public:
    google::protobuf::Arena* get() { return &arena_; }

private:
    static google::protobuf::ArenaOptions options(char* block, std::size_t size) {
        google::protobuf::ArenaOptions options;
        options.initial_block = block;
        options.initial_block_size = size;
        return options;
    }
    alignas(std::max_align_t) char block_[8192];
    google::protobuf::Arena arena_{options(block_, sizeof block_)};
};

template <class Message>
Wrong parse(Message& message, std::string_view bytes) {
    if (bytes.size() > record_bytes_max) return "too large";
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return "not a record";
    // A later format may carry meaning that this reader would miss; within a format fields only get added.
    if (message.format() != record_format) return "unknown format";
    return nullptr;
}

}  // namespace

Result<Operation> decode_operation(std::string_view bytes) {
    ScratchArena arena;
    pb::Record& record = *google::protobuf::Arena::CreateMessage<pb::Record>(arena.get());
    if (const Wrong wrong = parse(record, bytes)) return bad(wrong);
    Operation operation;
    if (const Wrong wrong = take_identity(operation, record)) return bad(wrong);
    if (const Wrong wrong = take_progress(operation, record)) return bad(wrong);
    if (const Wrong wrong = take_parts(operation, record)) return bad(wrong);
    return operation;
}

Result<Tombstone> decode_tombstone(std::string_view bytes) {
    pb::Tombstone message;
    if (const Wrong wrong = parse(message, bytes)) return bad(wrong);
    if (!known_status(message.status())) return bad("tombstone status");
    Tombstone tombstone;
    tombstone.status = static_cast<OperationStatus>(message.status());
    tombstone.created = from_unix_ms(message.created());
    tombstone.retired = from_unix_ms(message.retired());
    return tombstone;
}

Result<std::vector<HistoryEvent>> decode_history(std::string_view bytes) {
    pb::History message;
    if (const Wrong wrong = parse(message, bytes)) return bad(wrong);
    if (message.events_size() > events_read_max) return bad("too many events");
    std::vector<HistoryEvent> events(static_cast<std::size_t>(message.events_size()));
    for (int i = 0; i < message.events_size(); ++i) {
        if (const Wrong wrong = take(events[static_cast<std::size_t>(i)], message.events(i))) return bad(wrong);
    }
    return events;
}

}  // namespace opid
