#pragma once
// From what the wire showed to the event that the state machine takes, and from a record to what the caller is told.
// Pure.
#include <optional>
#include <string>

#include "core/answer/problem.hpp"
#include "core/operation/event.hpp"
#include "core/operation/ladder.hpp"
#include "engine/guarded_write.hpp"
#include "engine/ports/upstream.hpp"

namespace opid {

struct AttemptEnd {
    Event event;
    bool key_honoured = false;  // the answer shows that the provider honours the key
};
// Takes evidence and body out of the exchange; the head of its answer stays.
AttemptEnd attempt_end(const Rule& rule, Exchange& exchange, Instant now, std::size_t decoded_max);

// After an event left an operation in doubt: what the ladder does next, and when. Ends the ladder at once where a
// lost answer leaves no automatic step; an answer of the provider's own is passed on first, and the review follows
// with the next retry or sweep.
void settle_next_step(Operation& operation, const RecoveryPlan& plan, Instant now, bool answer_passed_on);

// What those who waited are given of an answer that the record doesn't keep: as a replay, with what it says of
// retrying.
RecordedResponse shared_response(const Answer& answer);

// The provider's own answer as this caller gets it, without its body. Takes the fields.
Answer live_answer(const Operation& operation, InboundResponse& response, bool nothing_automatic_left);

// The problem that a caller is told about an operation in this status; for the statuses that have an answer of
// opid's own (not succeeded, nor failed).
Problem problem_of(const Operation& operation, const RecoveryPlan& plan, Instant now);

Problem not_sent_problem(const Operation& operation, Instant now);
// only_credentials: nothing else differs, so it may well be the same action, and a new ID would be the wrong advice.
Problem mismatch_problem(const Operation& operation, std::vector<std::string> differences, bool only_credentials);
Problem in_progress_problem(const Operation& operation);
Problem answer_not_kept_problem(const Operation& operation);
// The body of a success that an operator recorded without an answer of the provider's.
std::string operator_statement(const Operation& operation);

Problem simple_problem(ProblemKind kind, std::string detail, std::string operation_id);

}  // namespace opid
