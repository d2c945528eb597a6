#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/encoding.hpp"
#include "base/invariant.hpp"
#include "core/operation/step.hpp"
#include "engine/caller_pass.hpp"
#include "engine/outbound.hpp"
#include "engine/outcome.hpp"
#include "engine/stream_relay.hpp"

namespace opid {
namespace {

constexpr std::size_t attempt_id_bytes = 16;

InboundResponse head_of(const InboundResponse& response) {
    InboundResponse head;
    head.status = response.status;
    head.reason = response.reason;
    head.fields = response.fields;
    head.body_kept = response.body_kept;
    return head;
}

// The provider's answer goes to the caller as it is when it says something about this operation: it ended, it was
// refused before the work, or the provider itself got into trouble. Answers that speak of a key or of an earlier
// attempt would mislead; opid says what they mean.
bool passes_on(const Event& event, const Operation& after) {
    const auto* answered = std::get_if<Answered>(&event);
    if (answered == nullptr) return false;
    return is_final(after.status) || after.status == OperationStatus::prepared || answered->verdict == Verdict::unknown;
}

}  // namespace

// Nobody in this process holds the operation, so its recorded owner is gone, unless another node's lease still runs.
Task<CallerPass::Told> CallerPass::owner_lost(Operation operation) {
    const bool elsewhere = operation.owner.node != parts_.node.name && operation.owner.lease_until > now();
    if (elsewhere) {
        Problem problem = in_progress_problem(operation);
        problem.retry_after = operation.owner.lease_until - now();
        co_return tell(std::move(problem), std::move(operation));
    }
    Transition lost = step(std::move(operation), OwnerLost{}, now(), "opid");
    operation = std::move(lost.next);
    settle_next_step(operation, plan(), now(), true);
    const Status written = co_await ledger_.write(operation);
    if (!written) co_return store_trouble(written.error());
    Told told = co_await recover(std::move(operation));
    co_return told;
}

Task<CallerPass::Told> CallerPass::recover(Operation operation) {
    LadderMove move = next_move(operation, plan(), now(), true);
    if (move.kind == NextStepKind::keyed_retry) {
        const Millis pause = move.not_before - now();
        if (pause > parts_.limits.recovery) {
            Problem problem = problem_of(operation, plan(), now());
            co_return tell(std::move(problem), std::move(operation));
        }
        if (pause.count() > 0) co_await parts_.timers.sleep_for(pause);
        Told told = co_await attempts(std::move(operation));
        co_return told;
    }
    Told told = co_await review(std::move(operation), std::move(move.reason));
    co_return told;
}

Task<CallerPass::Told> CallerPass::review(Operation operation, std::string reason) {
    LadderEnded ended;
    ended.reason = std::move(reason);
    Transition transition = step(std::move(operation), ended, now(), "opid");
    operation = std::move(transition.next);
    const Status written = co_await ledger_.write(operation);
    if (!written) co_return store_trouble(written.error());
    Problem problem = problem_of(operation, plan(), now());
    co_return tell(std::move(problem), std::move(operation));
}

Task<CallerPass::Told> CallerPass::attempts(Operation operation) {
    std::optional<Instant> until;
    for (;;) {
        const std::string key = provider_key_for(write_, operation);
        std::string body_storage;
        Result<OutboundRequest> outbound = outbound_request(write_, key, body_storage);
        if (!outbound) {
            Problem problem = simple_problem(
                ProblemKind::bad_request,
                fmt::format("Nothing was sent: the provider key can't be placed in this request: {}.",
                            outbound.error().what()),
                operation.id);
            co_return tell(std::move(problem), {});
        }
        outbound->response_timeout = parts_.limits.upstream_response;
        outbound->body_max = parts_.limits.kept_response;
        std::optional<Problem> refused = co_await claim(operation, key);
        if (refused) co_return tell(std::move(*refused), {});

        StreamRelay relay(sink_, operation, parts_.limits.kept_response);
        Exchange exchange = co_await parts_.upstream.send(*outbound, &relay);
        auto body = std::make_shared<const std::string>(exchange.response.body);
        InboundResponse response = head_of(exchange.response);
        const Event event = event_of(*write_.rule, std::move(exchange), now(), parts_.limits.decoded_body);
        Transition ended = step(std::move(operation), event, now(), "opid");
        OPID_INVARIANT(ended.allowed);  // an attempt of ours always ends while its operation is in progress
        Operation after = std::move(ended.next);
        const bool passed_on = passes_on(event, after);
        settle_next_step(after, plan(), now(), passed_on);
        const Status written = co_await ledger_.write(after);
        if (relay.streamed()) {
            const bool whole = written && std::holds_alternative<Answered>(event);
            co_await relay.finish(whole);
        }
        if (!written) {
            Problem problem = simple_problem(
                ProblemKind::outcome_unknown,
                "Retry the same request with the SAME operation ID; do not use a new one. The attempt ended, but its "
                "outcome could not be recorded.",
                after.id);
            problem.operation_status = OperationStatus::unknown;
            Told told = tell(std::move(problem), {});
            told.mine.streamed = relay.streamed();
            co_return told;
        }
        operation = std::move(after);
        if (!until) until = now() + parts_.limits.recovery;
        const bool may_go_on = !passed_on && !relay.streamed();
        const std::optional<Millis> pause = may_go_on ? pause_before_next(operation, *until) : std::nullopt;
        if (!pause) {
            co_return settled(std::move(operation), std::move(response), std::move(body), passed_on, relay.streamed());
        }
        if (pause->count() > 0) co_await parts_.timers.sleep_for(*pause);
    }
}

// How long to wait before the ladder's next send fits into this caller's request; nothing when it doesn't.
std::optional<Millis> CallerPass::pause_before_next(const Operation& operation, Instant until) const {
    if (operation.status != OperationStatus::unknown) return std::nullopt;
    const LadderMove move = next_move(operation, plan(), now(), false);
    if (move.kind != NextStepKind::keyed_retry || move.not_before > until) return std::nullopt;
    return std::max(Millis{0}, std::chrono::duration_cast<Millis>(move.not_before - now()));
}

Task<std::optional<Problem>> CallerPass::claim(Operation& operation, const std::string& key) {
    if (write_.rule->key.source == KeySource::caller && !key.empty() && operation.provider_key != key) {
        std::optional<Problem> conflict = co_await reserve_caller_key(operation, key);
        if (conflict) co_return conflict;
    }
    Claimed claimed;
    claimed.attempt_id = "at_" + base32hex(parts_.entropy.bytes(attempt_id_bytes));
    claimed.owner.node = parts_.node.name;
    claimed.owner.epoch = parts_.node.epoch;
    claimed.owner.lease_until = now() + parts_.limits.lease;
    claimed.provider_key = key;
    Transition transition = step(std::move(operation), claimed, now(), "caller");
    if (!transition.allowed) {
        // The profile has changed what key this operation would carry; its first attempt may have used the other.
        operation = std::move(transition.next);
        Problem problem = problem_of(operation, RecoveryPlan{}, now());
        problem.kind = ProblemKind::needs_review;
        co_return problem;
    }
    const Status written = co_await ledger_.write(transition.next);
    if (!written) co_return store_problem(written.error());
    operation = std::move(transition.next);
    co_return std::nullopt;
}

// A key that the caller chose may name one operation only; the store's step references serve as the index.
Task<std::optional<Problem>> CallerPass::reserve_caller_key(const Operation& operation, const std::string& key) {
    const std::string step_name = fmt::format("\x01provider-key\n{}\n{}", operation.provider, key);
    const std::string own = operation.scope + "\n" + operation.id;
    const Result<std::string> holder = co_await parts_.store.allocate_step(operation.tenant, step_name, own);
    if (!holder) co_return store_problem(holder.error());
    if (*holder == own) co_return std::nullopt;
    co_return simple_problem(ProblemKind::provider_key_conflict,
                             "Do not retry this request with this provider key: the key already names another "
                             "operation. Nothing was sent.",
                             operation.id);
}

CallerPass::Told CallerPass::settled(Operation operation, InboundResponse response,
                                     std::shared_ptr<const std::string> body, bool passed_on, bool streamed) {
    if (!passed_on && !streamed) {
        Problem problem = problem_of(operation, plan(), now());
        return tell(std::move(problem), std::move(operation));
    }
    Told told;
    const bool automatic = operation.status == OperationStatus::unknown &&
                           next_move(operation, plan(), now(), true).kind != NextStepKind::review;
    told.mine.answer = live_answer(operation, response, !automatic);
    told.mine.answer.body = std::move(body);
    told.mine.streamed = streamed;
    told.operation = std::move(operation);
    told.look_again = false;
    if (!response.body_kept && !streamed) {
        told.problem = answer_not_kept_problem(told.operation);
        told.mine = rendered(*told.problem, &told.operation);
    } else if (!passed_on) {  // streamed and then cut: those who waited get opid's word, not half an answer
        told.problem = problem_of(told.operation, plan(), now());
    }
    return told;
}

}  // namespace opid
