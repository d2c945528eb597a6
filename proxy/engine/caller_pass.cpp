#include "engine/caller_pass.hpp"

#include <algorithm>
#include <utility>

#include "core/answer/replay_fields.hpp"
#include "core/identity/differences.hpp"
#include "core/operation/step.hpp"
#include "engine/binding.hpp"
#include "engine/outcome.hpp"

namespace opid {
namespace {

// Ends the hold on every way out, exceptions included.
class Hold {
public:
    Hold(InFlightTable& table, InFlightTable::SlotPtr slot) : table_(table), slot_(std::move(slot)) {}
    ~Hold() { table_.release(slot_, std::move(outcome_)); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    bool has_waiters() { return table_.has_waiters(slot_); }
    void leave(std::shared_ptr<const SharedOutcome> outcome) { outcome_ = std::move(outcome); }

private:
    InFlightTable& table_;
    InFlightTable::SlotPtr slot_;
    std::shared_ptr<const SharedOutcome> outcome_;
};

}  // namespace

CallerPass::CallerPass(EngineParts& parts, InFlightTable& table, GuardedWrite write, ResponseSink* sink)
    : parts_(parts),
      table_(table),
      ledger_(parts.store, parts.observer),
      write_(std::move(write)),
      sink_(sink),
      draft_(draft_operation(write_, IntentLimits{parts.limits.decoded_body})) {}

Task<GuardedAnswer> CallerPass::run() {
    const Millis patience = std::min(write_.wait.value_or(parts_.limits.wait), parts_.limits.wait_max);
    const Instant until = now() + patience;
    for (;;) {
        InFlightTable::SlotPtr held;
        InFlightTable::SlotPtr slot = table_.try_hold(draft_.key, held);
        if (slot) {
            GuardedAnswer answer = co_await hold(std::move(slot));
            co_return answer;
        }
        std::optional<GuardedAnswer> answer = co_await join(std::move(held), until);
        if (answer) co_return std::move(*answer);
    }
}

Task<std::optional<GuardedAnswer>> CallerPass::join(InFlightTable::SlotPtr held, Instant until) {
    std::optional<Operation> other = table_.bound_to_another(held, draft_);
    if (other) {
        const bool same = co_await same_request(*other);
        if (!same) {
            other->status = OperationStatus::in_progress;
            Told told = co_await mismatch(std::move(*other));
            co_return std::move(told.mine);
        }
    }
    const InFlightTable::Waited waited = co_await table_.wait(held, parts_.timers, until - now(),
                                                              parts_.limits.waiters_per_operation);
    if (!waited.admitted) {
        const Problem problem = simple_problem(
            ProblemKind::overloaded,
            "Retry later with the SAME operation ID: too many callers wait for this operation.", draft_.id);
        co_return rendered(problem, nullptr);
    }
    if (!waited.ended) co_return rendered(in_progress_problem(draft_), nullptr);
    if (!waited.outcome) co_return std::nullopt;
    const bool same = co_await same_request(waited.outcome->operation);
    if (!same) {
        Told told = co_await mismatch(waited.outcome->operation);
        co_return std::move(told.mine);
    }
    co_return as_waiter(*waited.outcome);
}

Task<GuardedAnswer> CallerPass::hold(InFlightTable::SlotPtr slot) {
    Hold hold(table_, slot);
    table_.bind(slot, &draft_);
    Told told = co_await look_and_decide();
    if (!told.look_again && hold.has_waiters()) {
        SharedOutcome shared;
        shared.operation = std::move(told.operation);
        shared.problem = told.problem;
        if (!told.problem && !is_final(shared.operation.status)) shared.answer = told.mine.answer;
        hold.leave(std::make_shared<const SharedOutcome>(std::move(shared)));
    }
    co_return std::move(told.mine);
}

Task<CallerPass::Told> CallerPass::look_and_decide() {
    Result<Loaded> loaded = co_await parts_.store.load(draft_.key);
    if (!loaded) co_return store_trouble(loaded.error());
    if (std::holds_alternative<Absent>(*loaded)) {
        Told told = co_await first_time();
        co_return told;
    }
    if (const auto* tombstone = std::get_if<Tombstone>(&*loaded)) {
        Problem problem = simple_problem(ProblemKind::operation_expired,
                                         "Do not retry: this operation ID was used before and its answer is no longer "
                                         "kept. It is never run again; a new action needs a new operation ID.",
                                         draft_.id);
        problem.operation_status = tombstone->status;
        co_return tell(std::move(problem), {});
    }
    Operation operation = std::get<Operation>(std::move(*loaded));
    const bool same = co_await same_request(operation);
    if (!same) {
        Told told = co_await mismatch(std::move(operation));
        co_return told;
    }
    Told told = co_await decide(std::move(operation));
    co_return told;
}

Task<CallerPass::Told> CallerPass::decide(Operation operation) {
    switch (operation.status) {
        case OperationStatus::succeeded:
        case OperationStatus::failed: co_return co_await replay(std::move(operation));
        case OperationStatus::prepared: co_return co_await decide_prepared(std::move(operation));
        case OperationStatus::in_progress: co_return co_await owner_lost(std::move(operation));
        case OperationStatus::unknown: co_return co_await recover(std::move(operation));
        case OperationStatus::awaiting_approval:
        case OperationStatus::needs_review:
        case OperationStatus::cancelled: {
            Problem problem = problem_of(operation, plan(), now());
            co_return tell(std::move(problem), std::move(operation));
        }
    }
    co_return Told{};
}

Task<CallerPass::Told> CallerPass::decide_prepared(Operation operation) {
    if (write_.rule->approval_required) {
        const bool holds = operation.approval && operation.approval->expires > now() &&
                           operation.approval->digest_hex == to_hex(operation.digest);
        if (!holds) {
            if (operation.approval) {
                Transition expired = step(std::move(operation), ApprovalExpired{}, now(), "opid");
                operation = std::move(expired.next);
                const Status written = co_await ledger_.write(operation);
                if (!written) co_return store_trouble(written.error());
            }
            Problem problem = problem_of(operation, plan(), now());
            problem.kind = ProblemKind::approval_expired;
            problem.detail = "Ask for a new approval: the one for this operation no longer holds. Nothing was sent.";
            co_return tell(std::move(problem), std::move(operation));
        }
    }
    Told told = co_await attempts(std::move(operation));
    co_return told;
}

Task<CallerPass::Told> CallerPass::first_time() {
    const bool needs_approval = write_.rule->approval_required;
    Operation operation = register_operation(draft_, needs_approval, now(), "caller");
    if (needs_approval) {
        const Status written = co_await ledger_.write(operation);
        if (!written) co_return store_trouble(written.error());
        Problem problem = problem_of(operation, plan(), now());
        co_return tell(std::move(problem), std::move(operation));
    }
    Told told = co_await attempts(std::move(operation));
    co_return told;
}

Task<CallerPass::Told> CallerPass::replay(Operation operation) {
    if (!operation.response) {
        if (operation.status == OperationStatus::failed) {
            Problem problem = problem_of(operation, plan(), now());
            co_return tell(std::move(problem), std::move(operation));
        }
        // Stated by an operator, without an answer to give: an empty success would be taken for the provider's.
        operation.response.emplace();
        operation.response->status = 200;
        operation.response->headers = {{"Content-Type", "application/json"}};
        operation.response->body.kept = true;
        operation.response->body.bytes = operator_statement(operation);
    }
    if (!operation.response->body.kept) {
        Problem problem = answer_not_kept_problem(operation);
        co_return tell(std::move(problem), std::move(operation));
    }
    if (operation.response->body.external && operation.response->body.bytes.empty()) {
        Result<std::string> bytes = co_await parts_.store.load_body(operation.key, BodyPart::response);
        if (!bytes) co_return store_trouble(bytes.error());
        operation.response->body.bytes = std::move(*bytes);
    }
    parts_.observer.answered(operation.provider, "replay");
    Told told;
    told.mine = replayed(operation, std::make_shared<const std::string>(operation.response->body.bytes));
    told.operation = std::move(operation);
    told.look_again = false;
    co_return told;
}

Task<std::string> CallerPass::request_body_of(const Operation& operation) {
    const Payload& body = operation.intent.body;
    if (!body.external || !body.bytes.empty()) co_return body.bytes;
    Result<std::string> bytes = co_await parts_.store.load_body(operation.key, BodyPart::request);
    if (!bytes) co_return std::string();
    co_return std::move(*bytes);
}

// Two providers may share an address; an ID that was used at one of them names nothing at the other.
Task<bool> CallerPass::same_request(const Operation& operation) {
    if (operation.provider != draft_.provider) co_return false;
    if (operation.digest == draft_.digest) co_return true;
    if (comparable(operation, write_)) co_return false;
    const std::string body = co_await request_body_of(operation);
    const Intent original = recorded_intent(operation, body);
    co_return canonical_digest(original, write_.rule->intent, intent_limits()).value() == draft_.digest;
}

Task<CallerPass::Told> CallerPass::mismatch(Operation operation) {
    const std::string body = co_await request_body_of(operation);
    const Intent original = recorded_intent(operation, body);
    std::vector<std::string> places = differences(original, write_.intent, write_.rule->intent, intent_limits());
    if (places.empty()) places.emplace_back("target");  // the same address under another provider's name
    Told told = tell(mismatch_problem(operation, std::move(places)), {});
    told.look_again = true;  // those who wait have payloads of their own
    co_return told;
}

CallerPass::Told CallerPass::tell(Problem problem, Operation operation) {
    parts_.observer.answered(write_.profile->provider, traits(problem.kind).slug);
    Told told;
    told.mine = rendered(problem, operation.id.empty() ? nullptr : &operation);
    told.look_again = operation.id.empty();
    told.problem = std::move(problem);
    told.operation = std::move(operation);
    return told;
}

CallerPass::Told CallerPass::store_trouble(const Error& error) { return tell(store_problem(error), {}); }

Problem CallerPass::store_problem(const Error& error) const {
    if (error.kind() == ErrorKind::conflict) return in_progress_problem(draft_);
    const bool overloaded = error.kind() == ErrorKind::overloaded;
    return simple_problem(overloaded ? ProblemKind::overloaded : ProblemKind::store_unavailable,
                          "Retry later with the SAME operation ID. Nothing was sent: the ledger could not record "
                          "this operation.",
                          draft_.id);
}

GuardedAnswer CallerPass::rendered(const Problem& problem, const Operation* operation) const {
    GuardedAnswer answer;
    answer.answer = render(problem, write_.rule->problems, write_.jsonrpc_id);
    if (operation != nullptr) {
        add_operation_fields(answer.answer.fields, *operation);
    } else if (!problem.operation_id.empty()) {
        answer.answer.fields.emplace_back("Operation-Id", problem.operation_id);
        if (problem.operation_status) {
            answer.answer.fields.emplace_back("Operation-Status", std::string(to_word(*problem.operation_status)));
        }
    }
    return answer;
}

GuardedAnswer CallerPass::replayed(const Operation& operation, std::shared_ptr<const std::string> body) const {
    ReplayContext context;
    context.accept_encoding = write_.accept_encoding;
    context.accept_encoding_present = write_.accept_encoding_present;
    context.jsonrpc_id = write_.jsonrpc_id;
    context.decoded_max = parts_.limits.decoded_body;
    GuardedAnswer answer;
    answer.answer = replay_answer(operation, std::move(body), context);
    return answer;
}

GuardedAnswer CallerPass::as_waiter(const SharedOutcome& outcome) {
    const Operation& operation = outcome.operation;
    if (outcome.problem) return rendered(*outcome.problem, &operation);
    parts_.observer.answered(operation.provider, "joined");
    if (outcome.answer) {
        GuardedAnswer answer;
        answer.answer = *outcome.answer;
        answer.answer.fields.emplace_back("Idempotent-Replayed", "true");
        return answer;
    }
    if (!operation.response->body.kept) return rendered(answer_not_kept_problem(operation), &operation);
    return replayed(operation, std::make_shared<const std::string>(operation.response->body.bytes));
}

}  // namespace opid
