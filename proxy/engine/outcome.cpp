#include "engine/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/encoding.hpp"
#include "base/time_text.hpp"
#include "core/answer/replay_fields.hpp"
#include "core/http/date.hpp"
#include "core/http/retry_after.hpp"
#include "core/identity/content_decoding.hpp"
#include "core/identity/json_reader.hpp"
#include "core/operation/step.hpp"
#include "core/profile/classify.hpp"

namespace opid {
namespace {

constexpr Millis retry_after_max{3600000};

std::string_view field_value(const StoredFields& fields, std::string_view name) {
    for (const auto& [field, value] : fields) {
        if (equal_ignoring_case(field, name)) return value;
    }
    return {};
}

Millis time_until(Instant at, Instant now) { return std::max(Millis{1000}, at - now); }

std::string quoted(std::string_view text) {
    std::string json;
    append_json_string(json, text);
    return json;
}

// When and what route: an ID that was reused by mistake is found by them.
std::string original_json(const Operation& operation) {
    const auto question = operation.intent.target.find('?');
    return fmt::format("{{\"at\":{},\"method\":{},\"provider\":{},\"path\":{}}}",
                       quoted(utc_seconds(operation.created)), quoted(operation.intent.method),
                       quoted(operation.provider),
                       quoted(std::string_view(operation.intent.target).substr(0, question)));
}

RecordedResponse recorded(InboundResponse& response) {
    RecordedResponse stored;
    stored.status = response.status;
    stored.reason = response.reason;
    stored.headers = fields_to_keep(response.fields);
    stored.body.size = response.body_size;
    stored.body.digest = response.body_digest;
    stored.body.kept = response.body_kept;
    stored.body.bytes = std::move(response.body);
    return stored;
}

std::string_view key_advice() { return "Retry the same request with the SAME operation ID; do not use a new one."; }

}  // namespace

AttemptEnd attempt_end(const Rule& rule, Exchange& exchange, Instant now, std::size_t decoded_max) {
    AttemptEnd end;
    if (!exchange.answered) {
        if (exchange.evidence.nothing_sent()) {
            end.event = NotSent{std::move(exchange.evidence)};
        } else {
            end.event = Lost{std::move(exchange.evidence)};
        }
        return end;
    }
    InboundResponse& response = exchange.response;
    const std::string_view coding = field_value(response.fields, "Content-Encoding");
    std::string decoded;
    AnswerView view;
    view.status = response.status;
    view.headers = &response.fields;
    view.body = response.body;
    view.body_available = response.body_kept;
    if (response.body_kept && !is_identity_coding(coding)) {
        DecodedContent content = decode_content(coding, response.body, decoded_max);
        view.body_available = content.outcome == DecodeOutcome::decoded;
        decoded = std::move(content.bytes);
        view.body = decoded;
    }
    Classified classified = classify(rule, view);
    end.key_honoured = classified.key_proven || classified.provider_replayed;
    Answered& answered = end.event.emplace<Answered>();
    answered.verdict = classified.verdict;
    answered.frozen = classified.frozen;
    answered.names_object = classified.names_object;
    answered.provider_ref = std::move(classified.provider_ref);
    answered.evidence = std::move(exchange.evidence);
    answered.evidence.provider_replayed = classified.provider_replayed;
    if (const std::string_view wait = field_value(response.fields, "Retry-After"); !wait.empty()) {
        if (const auto time = http::parse_retry_after(wait, now, retry_after_max)) {
            answered.retry_not_before = now + *time;
        }
    }
    answered.response = recorded(response);
    return end;
}

void settle_next_step(Operation& operation, const RecoveryPlan& plan, Instant now, bool answer_passed_on) {
    if (operation.status != OperationStatus::unknown) return;
    const LadderMove move = next_move(operation, plan, now, false);
    operation.next_step = {move.kind, move.not_before};
    if (move.kind != NextStepKind::review || answer_passed_on) return;
    Event ended = LadderEnded{move.reason};
    static_cast<void>(advance(operation, ended, now, "opid"));
}

Answer live_answer(const Operation& operation, InboundResponse& response, bool nothing_automatic_left) {
    Answer answer;
    answer.status = response.status;
    answer.reason = std::move(response.reason);
    answer.fields = std::move(response.fields);
    std::erase_if(answer.fields, [](const auto& field) { return is_withheld_field(field.first); });
    add_operation_fields(answer.fields, operation);
    if (operation.doubt && nothing_automatic_left) {
        answer.fields.emplace_back("X-Should-Retry", "false");
        answer.fields.emplace_back("Stripe-Should-Retry", "false");
    }
    return answer;
}

RecordedResponse shared_response(const Answer& answer) {
    RecordedResponse response;
    response.status = answer.status;
    response.reason = answer.reason;
    for (const auto& field : answer.fields) {
        bool wanted = is_replayed_field(field.first);
        for (const std::string_view name : {"Retry-After", "X-Should-Retry", "Stripe-Should-Retry"}) {
            wanted = wanted || equal_ignoring_case(field.first, name);
        }
        if (wanted) response.headers.push_back(field);
    }
    response.body.kept = true;
    return response;
}

Problem simple_problem(ProblemKind kind, std::string detail, std::string operation_id) {
    Problem problem;
    problem.kind = kind;
    problem.detail = std::move(detail);
    problem.operation_id = std::move(operation_id);
    return problem;
}

Problem not_sent_problem(const Operation& operation, Instant now) {
    const Evidence evidence = operation.attempts.empty() ? Evidence{} : operation.attempts.back().evidence;
    const std::string why = evidence.http_status != 0
                                ? fmt::format("The provider answered {} and did nothing.", evidence.http_status)
                                : fmt::format("Nothing reached the provider ({}), so nothing can have happened.",
                                              evidence.failure.empty() ? "no connection" : evidence.failure);
    Problem problem = simple_problem(ProblemKind::not_sent, fmt::format("{} {}", key_advice(), why), operation.id);
    problem.operation_status = operation.status;
    problem.members.emplace_back("stage", quoted(to_word(evidence.stage)));
    if (operation.retry_not_before) problem.retry_after = time_until(*operation.retry_not_before, now);
    return problem;
}

Problem mismatch_problem(const Operation& operation, std::vector<std::string> differences, bool only_credentials) {
    Problem problem = simple_problem(
        ProblemKind::payload_mismatch,
        only_credentials
            ? "Do not retry this request as it is, and do not give it a new operation ID: only values in the query "
              "that look like credentials differ from the first attempt's. Send the original values, or let an "
              "operator look at this operation."
            : "Do not retry this request under this operation ID: the ID was used for another request. If this is a "
              "new action, give it a new ID; if it is a retry, send the original payload.",
        operation.id);
    problem.operation_status = operation.status;
    if (!operation.attempts.empty()) problem.operation_attempt = operation.attempts.back().id;
    problem.differences = std::move(differences);
    problem.members.emplace_back("original", original_json(operation));
    return problem;
}

Problem in_progress_problem(const Operation& operation) {
    Problem problem = simple_problem(
        ProblemKind::operation_in_progress,
        fmt::format("{} An attempt is still running; its answer will be given to your retry.", key_advice()),
        operation.id);
    problem.operation_status = OperationStatus::in_progress;
    if (!operation.attempts.empty()) problem.operation_attempt = operation.attempts.back().id;
    return problem;
}

Problem answer_not_kept_problem(const Operation& operation) {
    const RecordedResponse& response = *operation.response;
    const bool succeeded = operation.status == OperationStatus::succeeded;
    Problem problem = simple_problem(
        ProblemKind::answer_not_kept,
        fmt::format(
            "Do not retry: this operation {}, and its answer was too large to keep. {}",
            succeeded ? "succeeded" : fmt::format("failed (the provider answered {})", response.status),
            succeeded ? "Read the result at the provider." : "A corrected request is a new action with a new ID."),
        operation.id);
    problem.operation_status = operation.status;
    problem.members.emplace_back("original_status", std::to_string(response.status));
    problem.members.emplace_back("original_length", std::to_string(response.body.size));
    problem.members.emplace_back("original_digest", quoted("sha-256:" + to_hex(response.body.digest)));
    std::string headers = "{";
    for (const auto& [name, value] : response.headers) {
        if (headers.size() > 1) headers += ',';
        headers += quoted(name) + ":" + quoted(value);
    }
    problem.members.emplace_back("original_headers", headers + "}");
    return problem;
}

std::string operator_statement(const Operation& operation) {
    std::string json = fmt::format(
        "{{\"operation_id\":{},\"operation_status\":\"succeeded\",\"recovered\":\"operator\"", quoted(operation.id));
    if (!operation.provider_ref.empty()) json += ",\"provider_ref\":" + quoted(operation.provider_ref);
    return json + "}";
}

namespace {

Problem needs_review_problem(Problem problem) {
    problem.kind = ProblemKind::needs_review;
    problem.detail = fmt::format(
        "Do not retry, and do not use a new operation ID: the action may have happened already. A person has to look "
        "at the provider for operation {} and record the outcome (opid ops resolve).",
        problem.operation_id);
    return problem;
}

}  // namespace

Problem problem_of(const Operation& operation, const RecoveryPlan& plan, Instant now) {
    Problem problem;
    problem.operation_id = operation.id;
    problem.operation_status = operation.status;
    switch (operation.status) {
        case OperationStatus::unknown: {
            const LadderMove move = next_move(operation, plan, now, true);
            if (move.kind == NextStepKind::review) return needs_review_problem(std::move(problem));
            problem.kind = ProblemKind::outcome_unknown;
            problem.detail = fmt::format(
                "{} The last attempt ended without a clear answer, so the action may have happened; the next retry "
                "finds out without doing it twice.",
                key_advice());
            problem.retry_after = time_until(move.not_before, now);
            return problem;
        }
        case OperationStatus::needs_review: return needs_review_problem(std::move(problem));
        case OperationStatus::awaiting_approval:
            problem.kind = ProblemKind::approval_required;
            problem.detail = fmt::format(
                "Do not retry until operation {} is approved; then send the same request with the SAME operation ID. "
                "Nothing was sent.",
                operation.id);
            problem.members.emplace_back("digest", quoted(to_hex(operation.digest)));
            problem.members.emplace_back("approve", original_json(operation));
            return problem;
        case OperationStatus::cancelled:
            problem.kind = ProblemKind::operation_cancelled;
            problem.detail = "Do not retry: this operation was cancelled. A new action needs a new operation ID.";
            if (!operation.history.empty() && operation.history.back().what == "denied") {
                problem.kind = ProblemKind::approval_denied;
                problem.detail = "Do not retry: the approval of this operation was denied. Nothing was sent.";
            }
            return problem;
        case OperationStatus::failed:  // by an operator's word, without an answer of the provider
            problem.kind = ProblemKind::operation_cancelled;
            problem.title = "This operation failed";
            problem.detail = "Do not retry: an operator recorded that this operation failed without effect.";
            return problem;
        case OperationStatus::prepared: return not_sent_problem(operation, now);
        case OperationStatus::in_progress:
        case OperationStatus::succeeded: return in_progress_problem(operation);
    }
    return problem;
}

}  // namespace opid
