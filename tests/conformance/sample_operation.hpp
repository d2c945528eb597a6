#pragma once
// Operations as the store sees them, for tests of the codec and of the stores.
#include <string>
#include <string_view>

#include "core/operation/operation.hpp"
#include "engine/ports/operation_store.hpp"

namespace opid::test {

inline Instant at_ms(std::int64_t ms) { return from_unix_ms(ms); }

inline Payload payload(std::string bytes) {
    Payload out;
    out.size = bytes.size();
    out.digest = sha256(bytes);
    out.kept = true;
    out.bytes = std::move(bytes);
    return out;
}

inline HistoryEvent event(std::uint64_t sequence, OperationStatus from, OperationStatus to, std::int64_t ms = 1000) {
    HistoryEvent out;
    out.sequence = sequence;
    out.at = at_ms(ms);
    out.what = "claimed";
    out.actor = "caller";
    out.from = from;
    out.to = to;
    return out;
}

// A new record at version 1 with one history event.
inline Operation new_operation(std::string_view id, OperationStatus status = OperationStatus::in_progress,
                               std::int64_t created_ms = 1'000'000) {
    Operation out;
    out.tenant = "default";
    out.id = id;
    out.key = operation_key(out.tenant, out.scope, out.id);
    out.version = 1;
    out.provider = "stripe";
    out.rule = "refund";
    out.digest = sha256(id);
    out.raw_digest = sha256("raw");
    out.intent.method = "POST";
    out.intent.scheme_authority = "https://api.stripe.com";
    out.intent.target = "/v1/refunds";
    out.intent.body = payload("amount=100");
    out.status = status;
    out.owner.node = "node-a";
    out.owner.epoch = 7;
    out.created = at_ms(created_ms);
    out.updated = at_ms(created_ms);
    out.history.push_back(event(1, status, status, created_ms));
    out.history_length = 1;
    return out;
}

// The next version of a record, in another status.
inline Operation moved(Operation operation, OperationStatus to, std::int64_t updated_ms = 1'001'000) {
    ++operation.version;
    ++operation.history_length;
    operation.history.push_back(event(operation.history_length, operation.status, to, updated_ms));
    operation.status = to;
    operation.updated = at_ms(updated_ms);
    if (is_final(to)) operation.owner = Owner{};
    return operation;
}

inline Operation with_response(Operation operation, std::string body, int status = 200) {
    RecordedResponse response;
    response.status = status;
    response.reason = "OK";
    response.headers = {{"Content-Type", "application/json"}};
    response.body = payload(std::move(body));
    operation.response = std::move(response);
    return operation;
}

inline Commit commit_of(const Operation& operation) {
    Commit out;
    out.operation = operation;
    out.expected_version = operation.version - 1;
    return out;
}

// Every field set, with bytes that are no text.
inline Operation full_operation() {
    using namespace std::string_literals;
    Operation out = new_operation("refund-\x01\xff\"81\"", OperationStatus::succeeded, 1'700'000'000'123);
    out.version = 7;
    out.tenant = "billing\0agent"s;
    out.scope = "stripe";
    out.key = operation_key(out.tenant, out.scope, out.id);
    out.profile_digest = "sha256:abc";
    out.intent.headers = {{"Stripe-Account", "acct_1"}, {"Content-Type", "application/json"}, {"X", ""}};
    out.intent.body = payload("\0\xff\n{}"s);
    out.doubt = true;
    out.keyed_retry_closed = true;
    out.sends = 3;
    out.key_generation = 2;
    out.provider_key = "k3v0";
    out.key_carrier = "header:Idempotency-Key";
    out.provider_ref = "re_1";
    out.first_sent = at_ms(1'700'000'000'200);
    out.retry_not_before = at_ms(-5);
    out.look_ups = 4;
    out.owner = {"node-a", 0xffffffffffffffff, at_ms(1'700'000'015'000)};
    Attempt attempt;
    attempt.id = "at_0123456789abcdefghijklmnop";
    attempt.kind = AttemptKind::look_up;
    attempt.started = at_ms(1'700'000'000'150);
    attempt.ended = at_ms(1'700'000'000'950);
    attempt.key_generation = 1;
    attempt.evidence = {Stage::answered, 345, 200, "cut", "103,102", true};
    attempt.verdict = Verdict::duplicate;
    out.attempts = {attempt, Attempt{}};
    out = with_response(std::move(out), "", 201);
    out.response->body.kept = false;
    out.response->body.size = 99'000'000;
    out.response->recovered = true;
    out.approval = ApprovalRecord{"ann", "ab12", "billing", at_ms(1), at_ms(2)};
    out.next_step = {NextStepKind::review, at_ms(1'700'000'060'000)};
    out.updated = at_ms(1'700'000'001'000);
    out.history = {event(40, OperationStatus::prepared, OperationStatus::in_progress),
                   event(41, OperationStatus::in_progress, OperationStatus::succeeded)};
    out.history[1].detail = "the provider's answer, 200";
    out.history_length = 41;
    return out;
}

}  // namespace opid::test
