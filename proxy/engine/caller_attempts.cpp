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

// The provider's answer goes to the caller as it is when it says something about this operation: it ended, it was
// refused before the work, or the provider itself got into trouble. Answers that speak of a key or of an earlier
// attempt would mislead; opid says what they mean.
bool passes_on(const Event& event, const Operation& after) {
    const auto* answered = std::get_if<Answered>(&event);
    if (answered == nullptr) return false;
    return is_final(after.status) || after.status == OperationStatus::prepared || answered->verdict == Verdict::unknown;
}

// The bytes of the provider's answer, which the record needs no more: it is written.
std::shared_ptr<const std::string> body_after(Operation& operation, Event& event) {
    auto* answered = std::get_if<Answered>(&event);
    if (answered == nullptr) return std::make_shared<const std::string>();
    const bool recorded = is_final(operation.status) && operation.response;
    RecordedResponse& response = recorded ? *operation.response : answered->response;
    return std::make_shared<const std::string>(std::move(response.body.bytes));
}

}  // namespace

// Nobody in this process holds the operation, so its recorded owner is gone, unless another node's lease still runs.
Task<> CallerPass::owner_lost() {
    const bool elsewhere = operation_.owner.node != parts_.node.name && operation_.owner.lease_until > now();
    if (elsewhere) {
        Problem problem = in_progress_problem(operation_);
        problem.retry_after = operation_.owner.lease_until - now();
        co_return tell(std::move(problem));
    }
    Event lost = OwnerLost{};
    static_cast<void>(advance(operation_, lost, now(), "opid"));
    settle_next_step(operation_, plan(), now(), true);
    const Status written = co_await ledger_.write(operation_);
    if (!written) co_return tell_trouble(written.error());
    co_await recover();
}

Task<> CallerPass::recover() {
    LadderMove move = next_move(operation_, plan(), now(), true);
    if (move.kind != NextStepKind::keyed_retry) {
        co_await review(std::move(move.reason));
        co_return;
    }
    const Millis pause = move.not_before - now();
    if (pause > parts_.limits.recovery) co_return tell_status();
    if (pause.count() > 0) co_await parts_.timers.sleep_for(pause);
    co_await attempts();
}

Task<> CallerPass::review(std::string reason) {
    Event ended = LadderEnded{std::move(reason)};
    static_cast<void>(advance(operation_, ended, now(), "opid"));
    const Status written = co_await ledger_.write(operation_);
    if (!written) co_return tell_trouble(written.error());
    tell_status();
}

// A JSON-RPC request keeps its own spelling: its answer has to carry its own id.
Task<Status> CallerPass::keep_to_the_record() {
    const bool as_it_came = operation_.version == 0 || !write_.jsonrpc_id.empty();
    if (as_it_came || original_ || repeats(operation_, write_, binding_)) co_return ok();
    const Result<std::string> body = co_await request_body_of(operation_);
    if (!body) co_return body.error();
    original_.emplace(as_recorded(write_, operation_, *body));
    co_return ok();
}

Task<> CallerPass::attempts() {
    const Status kept = co_await keep_to_the_record();
    if (!kept) co_return tell_trouble(kept.error());
    const GuardedWrite& sent = original_ ? *original_ : write_;
    std::optional<Instant> until;
    for (;;) {
        const std::string key = provider_key_for(write_, operation_);
        if (operation_.doubt && !same_key(operation_, key, write_.rule->key.placement())) {
            co_await review(
                "the profile has changed its key since the attempt in doubt, so a second send could be one "
                "more action");
            co_return;
        }
        std::string body_storage;
        Result<OutboundRequest> outbound = outbound_request(sent, key, body_storage);
        if (!outbound) {
            co_return tell_me(simple_problem(ProblemKind::bad_request,
                                             fmt::format("{}: the provider key or the mark can't be placed here: {}.",
                                                         nothing_sent(), outbound.error().what()),
                                             operation_.id));
        }
        outbound->response_timeout = parts_.limits.upstream_response;
        outbound->body_max = parts_.limits.kept_response;
        std::optional<Problem> refused = co_await claim(key);
        if (refused) co_return tell_me(std::move(*refused));

        StreamRelay relay(sink_, operation_, parts_.limits.kept_response);
        Exchange exchange = co_await parts_.upstream.send(*outbound, &relay);
        sent_ = sent_ || !exchange.evidence.nothing_sent();
        AttemptEnd end = attempt_end(*write_.rule, exchange, now(), parts_.limits.decoded_body);
        if (end.key_honoured && !key.empty()) co_await note_proof();
        const bool allowed = advance(operation_, end.event, now(), "opid");
        OPID_INVARIANT(allowed);  // an attempt of ours always ends while its operation is in progress
        const bool passed_on = passes_on(end.event, operation_);
        settle_next_step(operation_, plan(), now(), passed_on);
        const Status written = co_await ledger_.write(operation_);
        if (relay.streamed()) {
            const bool whole = written && std::holds_alternative<Answered>(end.event);
            co_await relay.finish(whole);
        }
        if (!written) {
            tell_me(unrecorded_problem());
            told_.mine.streamed = relay.streamed();
            co_return;
        }
        told_.body = body_after(operation_, end.event);
        if (!until) until = now() + parts_.limits.recovery;
        const bool may_go_on = !passed_on && !relay.streamed();
        const std::optional<Millis> pause = may_go_on ? pause_before_next(*until) : std::nullopt;
        if (!pause) co_return settled(exchange.response, passed_on, relay.streamed());
        if (pause->count() > 0) co_await parts_.timers.sleep_for(*pause);
    }
}

// How long to wait before the ladder's next send fits into this caller's request; nothing when it doesn't.
std::optional<Millis> CallerPass::pause_before_next(Instant until) const {
    if (operation_.status != OperationStatus::unknown) return std::nullopt;
    const LadderMove move = next_move(operation_, plan(), now(), false);
    if (move.kind != NextStepKind::keyed_retry || move.not_before > until) return std::nullopt;
    return std::max(Millis{0}, std::chrono::duration_cast<Millis>(move.not_before - now()));
}

Task<std::optional<Problem>> CallerPass::claim(const std::string& key) {
    if (write_.rule->key.source == KeySource::caller && !key.empty() && operation_.provider_key != key) {
        std::optional<Problem> conflict = co_await reserve_caller_key(key);
        if (conflict) co_return conflict;
    }
    Claimed claimed;
    claimed.attempt_id = "at_" + base32hex(parts_.entropy.bytes(attempt_id_bytes));
    claimed.owner.node = parts_.node.name;
    claimed.owner.epoch = parts_.node.epoch;
    claimed.owner.lease_until = now() + parts_.limits.lease;
    claimed.provider_key = key;
    if (!key.empty()) claimed.key_carrier = write_.rule->key.placement();
    Event event = std::move(claimed);
    if (!advance(operation_, event, now(), "caller")) {
        // The state machine has the last word.
        Problem problem = problem_of(operation_, RecoveryPlan{}, now());
        problem.kind = ProblemKind::needs_review;
        co_return problem;
    }
    const Status written = co_await ledger_.write(operation_);
    if (!written) co_return store_problem(written.error());
    co_return std::nullopt;
}

// A key that the caller chose may name one operation only; the store's step references serve as the index.
Task<std::optional<Problem>> CallerPass::reserve_caller_key(const std::string& key) {
    const std::string step_name = fmt::format("\x01provider-key\n{}\n{}", operation_.provider, key);
    const std::string own = operation_.scope + "\n" + operation_.id;
    auto reserving = parts_.store.allocate_step(operation_.tenant, step_name, own);
    const Result<std::string> holder = co_await std::move(reserving);
    if (!holder) co_return store_problem(holder.error());
    if (*holder == own) co_return std::nullopt;
    co_return simple_problem(ProblemKind::provider_key_conflict,
                             "Do not retry this request with this provider key: the key already names another "
                             "operation. Nothing was sent.",
                             operation_.id);
}

// Once a rule. Where it can't be kept, the rule stays as cautious as it was.
Task<> CallerPass::note_proof() {
    const Rule& rule = *write_.rule;
    if (proven_plan_ || !rule.key.proof || !write_.profile->verified) co_return;
    const Status noted = co_await proofs_.note(*write_.profile, rule, write_.intent.scheme_authority);
    if (!noted) parts_.observer.trouble("store", noted.error().what());
    proven_plan_ = proofs_.proven_plan(*write_.profile, rule, write_.intent.scheme_authority);
}

void CallerPass::settled(InboundResponse& response, bool passed_on, bool streamed) {
    if (!passed_on && !streamed) return tell_status();
    const bool automatic = operation_.status == OperationStatus::unknown &&
                           next_move(operation_, plan(), now(), true).kind != NextStepKind::review;
    told_.mine.answer = live_answer(operation_, response, !automatic);
    told_.mine.answer.body = told_.body;
    told_.mine.streamed = streamed;
    told_.shared = true;
    const bool lost_body = !response.body_kept && !is_final(operation_.status);
    // Streamed and then cut, or not kept: those who wait get opid's word, not half an answer or none.
    if (!passed_on || lost_body) told_.problem = problem_of(operation_, plan(), now());
    if (!response.body_kept && !streamed) {
        if (!told_.problem) told_.problem = answer_not_kept_problem(operation_);
        told_.mine = rendered(*told_.problem, &operation_);
    }
}

}  // namespace opid
