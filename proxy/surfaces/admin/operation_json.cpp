#include "surfaces/admin/operation_json.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/sha256.hpp"
#include "core/identity/json_reader.hpp"

namespace opid {
namespace {

namespace json = boost::json;

// Header values may hold any byte; JSON may not.
json::string text(std::string_view bytes) {
    if (is_utf8(bytes)) return json::string(bytes.data(), bytes.size());
    std::string ascii;
    for (const char c : bytes) ascii += static_cast<unsigned char>(c) < 0x80 ? c : '?';
    return json::string(ascii);
}

json::value text_or_null(std::string_view bytes) {
    if (bytes.empty()) return nullptr;
    return text(bytes);
}

json::value instant_or_null(const std::optional<Instant>& at) {
    if (!at) return nullptr;
    return text(format_instant(*at));
}

json::object fields_object(const StoredFields& fields) {
    json::object out;
    for (const auto& [name, value] : fields) {
        if (json::value* before = out.if_contains(name)) {
            *before = text(std::string(before->as_string()) + ", " + value);
        } else {
            out[name] = text(value);
        }
    }
    return out;
}

json::object payload_object(const Payload& payload) {
    json::object out;
    out["size"] = payload.size;
    out["digest"] = to_hex(payload.digest);
    out["kept"] = payload.kept;
    return out;
}

json::object intent_object(const RecordedIntent& intent) {
    json::object out;
    out["method"] = text(intent.method);
    out["authority"] = text(intent.scheme_authority);
    out["target"] = text(intent.target);
    out["headers"] = fields_object(intent.headers);
    out["body"] = payload_object(intent.body);
    return out;
}

json::object attempt_object(const Attempt& attempt) {
    json::object evidence;
    evidence["stage"] = text(to_word(attempt.evidence.stage));
    evidence["bytes_sent"] = attempt.evidence.bytes_sent;
    evidence["failure"] = text_or_null(attempt.evidence.failure);
    evidence["interim"] = text_or_null(attempt.evidence.interim);
    evidence["provider_replayed"] = attempt.evidence.provider_replayed;
    json::object out;
    out["id"] = text(attempt.id);
    out["kind"] = attempt.kind == AttemptKind::look_up ? "look_up" : "send";
    out["started"] = text(format_instant(attempt.started));
    out["ended"] = instant_or_null(attempt.ended);
    out["evidence"] = std::move(evidence);
    out["verdict"] = nullptr;
    if (attempt.verdict) out["verdict"] = text(to_word(*attempt.verdict));
    out["http_status"] = nullptr;
    if (attempt.evidence.http_status != 0) out["http_status"] = attempt.evidence.http_status;
    return out;
}

std::string_view to_word(NextStepKind kind) {
    switch (kind) {
        case NextStepKind::none: return "none";
        case NextStepKind::caller_retry: return "caller_retry";
        case NextStepKind::keyed_retry: return "keyed_retry";
        case NextStepKind::look_up: return "look_up";
        case NextStepKind::review: return "review";
        case NextStepKind::approval: return "approval";
    }
    return "?";
}

json::value next_step_value(const NextStep& next) {
    if (next.kind == NextStepKind::none) return nullptr;
    json::object out;
    out["kind"] = text(to_word(next.kind));
    out["at"] = nullptr;
    if (next.at != Instant{}) out["at"] = text(format_instant(next.at));
    return out;
}

json::value approval_value(const std::optional<ApprovalRecord>& approval) {
    if (!approval) return nullptr;
    json::object out;
    out["approver"] = text(approval->approver);
    out["digest"] = text(approval->digest_hex);
    out["scope"] = text_or_null(approval->scope);
    out["granted"] = text(format_instant(approval->granted));
    out["expires"] = text(format_instant(approval->expires));
    return out;
}

json::value response_value(const std::optional<RecordedResponse>& response) {
    if (!response) return nullptr;
    json::object out;
    out["status"] = response->status;
    out["headers"] = fields_object(response->headers);
    out["body"] = payload_object(response->body);
    out["recovered"] = response->recovered;
    return out;
}

json::object summary_object(const Operation& operation) {
    json::object out;
    out["id"] = text(operation.id);
    out["tenant"] = text(operation.tenant);
    out["provider"] = text(operation.provider);
    out["scope"] = operation.scope.empty() ? "tenant" : "provider";
    out["rule"] = text(operation.rule);
    out["status"] = text(to_word(operation.status));
    out["digest"] = to_hex(operation.digest);
    out["sends"] = operation.sends;
    out["provider_ref"] = text_or_null(operation.provider_ref);
    out["next_step"] = next_step_value(operation.next_step);
    out["created"] = text(format_instant(operation.created));
    out["updated"] = text(format_instant(operation.updated));
    return out;
}

}  // namespace

std::string format_instant(Instant at) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(at);
    const auto milliseconds = (at - seconds).count();
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)),
                       milliseconds);
}

std::string operation_summary_json(const Operation& operation) { return json::serialize(summary_object(operation)); }

std::string operation_json(const Operation& operation) {
    json::object out = summary_object(operation);
    out["version"] = operation.version;
    out["raw_digest"] = to_hex(operation.raw_digest);
    out["intent"] = intent_object(operation.intent);
    json::array attempts;
    for (const Attempt& attempt : operation.attempts) attempts.push_back(attempt_object(attempt));
    out["attempts"] = std::move(attempts);
    out["provider_key"] = text_or_null(operation.provider_key);
    out["approval"] = approval_value(operation.approval);
    out["response"] = response_value(operation.response);
    return json::serialize(out);
}

std::string history_json(const std::vector<HistoryEvent>& events) {
    json::array list;
    for (const HistoryEvent& event : events) {
        json::object out;
        out["sequence"] = event.sequence;
        out["at"] = text(format_instant(event.at));
        out["what"] = text(event.what);
        out["actor"] = text(event.actor);
        out["from"] = text(to_word(event.from));
        out["to"] = text(to_word(event.to));
        out["detail"] = text_or_null(event.detail);
        list.push_back(std::move(out));
    }
    json::object out;
    out["events"] = std::move(list);
    return json::serialize(out);
}

}  // namespace opid
