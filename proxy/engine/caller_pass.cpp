#include "engine/caller_pass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/answer/replay_fields.hpp"
#include "core/identity/differences.hpp"
#include "core/operation/step.hpp"
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

CallerPass::CallerPass(EngineParts& parts, InFlightTable& table, KeyProofs& proofs, GuardedWrite write,
                       ResponseSink* sink)
    : parts_(parts),
      table_(table),
      proofs_(proofs),
      ledger_(parts.store, parts.observer),
      write_(std::move(write)),
      sink_(sink),
      binding_(write_, IntentLimits{parts.limits.decoded_body}),
      proven_plan_(proofs.proven_plan(*write_.profile, *write_.rule, write_.intent.scheme_authority)) {}

Task<GuardedAnswer> CallerPass::run() {
    const Millis patience = std::min(write_.wait.value_or(parts_.limits.wait), parts_.limits.wait_max);
    const Instant until = now() + patience;
    for (;;) {
        InFlightTable::SlotPtr held;
        InFlightTable::SlotPtr slot = table_.try_hold(binding_.key(), held);
        if (slot) {
            GuardedAnswer answer = co_await hold(std::move(slot));
            co_return answer;
        }
        std::optional<GuardedAnswer> answer = co_await join(std::move(held), until);
        if (answer) co_return std::move(*answer);
    }
}

Task<std::optional<GuardedAnswer>> CallerPass::join(InFlightTable::SlotPtr held, Instant until) {
    std::optional<Operation> other = table_.bound_to_another(held, write_, intent_limits());
    if (other) {
        other->status = OperationStatus::in_progress;
        other->created = now();
        const bool answered = co_await told_apart(*other);
        if (answered) co_return std::move(told_.mine);
    }
    const InFlightTable::Waited waited = co_await table_.wait(held, parts_.timers, until - now(),
                                                              parts_.limits.waiters_per_operation);
    if (!waited.admitted) {
        const Problem problem = simple_problem(
            ProblemKind::overloaded,
            "Retry later with the SAME operation ID: too many callers wait for this operation.", write_.id.value());
        co_return rendered(problem, nullptr);
    }
    if (!waited.ended) {
        const Problem problem = co_await still_running();
        co_return rendered(problem, nullptr);
    }
    if (!waited.outcome) co_return std::nullopt;
    const bool answered = co_await told_apart(waited.outcome->operation);
    if (answered) co_return std::move(told_.mine);
    co_return as_waiter(*waited.outcome);
}

Task<GuardedAnswer> CallerPass::hold(InFlightTable::SlotPtr slot) {
    Hold hold(table_, slot);
    table_.bind(slot, &write_);
    co_await look_and_decide();
    if (told_.shared && hold.has_waiters()) {
        SharedOutcome shared;
        shared.operation = std::move(operation_);
        shared.body = std::move(told_.body);
        shared.problem = told_.problem;
        if (!told_.problem && !is_final(shared.operation.status)) {
            shared.operation.response = shared_response(told_.mine.answer);
        }
        hold.leave(std::make_shared<const SharedOutcome>(std::move(shared)));
    }
    co_return std::move(told_.mine);
}

Task<> CallerPass::look_and_decide() {
    auto loading = parts_.store.load(binding_.key());
    Result<Loaded> loaded = co_await std::move(loading);
    if (!loaded) co_return tell_trouble(loaded.error());
    if (std::holds_alternative<Absent>(*loaded)) {
        co_await first_time();
        co_return;
    }
    if (const auto* tombstone = std::get_if<Tombstone>(&*loaded)) {
        Problem problem = simple_problem(ProblemKind::operation_expired,
                                         "Do not retry: this operation ID was used before and its answer is no longer "
                                         "kept. It is never run again; a new action needs a new operation ID.",
                                         write_.id.value());
        problem.operation_status = tombstone->status;
        co_return tell_me(std::move(problem));
    }
    operation_ = std::get<Operation>(std::move(*loaded));
    const bool answered = co_await told_apart(operation_);
    if (!answered) co_await decide();
}

Task<> CallerPass::decide() {
    switch (operation_.status) {
        case OperationStatus::succeeded:
        case OperationStatus::failed: return replay();
        case OperationStatus::prepared: return decide_prepared();
        case OperationStatus::in_progress: return owner_lost();
        case OperationStatus::unknown: return recover();
        case OperationStatus::awaiting_approval:
        case OperationStatus::needs_review:
        case OperationStatus::cancelled: break;
    }
    return explain();
}

Task<> CallerPass::explain() {
    tell_status();
    co_return;
}

Task<> CallerPass::decide_prepared() {
    if (write_.rule->approval_required) {
        const bool holds = operation_.approval && operation_.approval->expires > now() &&
                           operation_.approval->digest_hex == to_hex(operation_.digest);
        if (!holds) {
            if (operation_.approval) {
                Event expired = ApprovalExpired{};
                static_cast<void>(advance(operation_, expired, now(), "opid"));
                const Status written = co_await ledger_.write(operation_);
                if (!written) co_return tell_trouble(written.error());
            }
            Problem problem = problem_of(operation_, plan(), now());
            problem.kind = ProblemKind::approval_expired;
            problem.detail = "Ask for a new approval: the one for this operation no longer holds. Nothing was sent.";
            co_return tell(std::move(problem));
        }
    }
    co_await attempts();
}

Task<> CallerPass::first_time() {
    const bool needs_approval = write_.rule->approval_required;
    operation_ = register_operation(draft_operation(write_, binding_), needs_approval, now(), "caller");
    if (needs_approval) {
        const Status written = co_await ledger_.write(operation_);
        if (!written) co_return tell_trouble(written.error());
        co_return tell_status();
    }
    co_await attempts();
}

Task<> CallerPass::replay() {
    if (!operation_.response) {
        if (operation_.status == OperationStatus::failed) co_return tell_status();
        // Stated by an operator, without an answer to give: an empty success would be taken for the provider's.
        operation_.response.emplace();
        operation_.response->status = 200;
        operation_.response->headers = {{"Content-Type", "application/json"}};
        operation_.response->body.kept = true;
        operation_.response->body.bytes = operator_statement(operation_);
    }
    Payload& body = operation_.response->body;
    if (!body.kept) co_return tell(answer_not_kept_problem(operation_));
    if (body.external && body.bytes.empty()) {
        auto loading = parts_.store.load_body(operation_.key, BodyPart::response);
        Result<std::string> bytes = co_await std::move(loading);
        if (!bytes) co_return tell_trouble(bytes.error());
        body.bytes = std::move(*bytes);
    }
    parts_.observer.answered(operation_.provider, "replay");
    told_.body = std::make_shared<const std::string>(std::move(body.bytes));
    told_.mine = replayed(operation_, told_.body);
    told_.shared = true;
}

Task<Result<std::string>> CallerPass::request_body_of(const Operation& operation) {
    const Payload& body = operation.intent.body;
    if (!body.external || !body.bytes.empty()) co_return body.bytes;
    auto loading = parts_.store.load_body(operation.key, BodyPart::request);
    Result<std::string> bytes = co_await std::move(loading);
    co_return bytes;
}

// Two providers may share an address; an ID that was used at one of them names nothing at the other.
Task<Result<bool>> CallerPass::same_request(const Operation& operation) {
    if (operation.provider != write_.profile->provider) co_return false;
    if (repeats(operation, write_, binding_)) co_return true;
    if (operation.digest == binding_.digest()) co_return true;
    if (comparable(operation, write_)) co_return false;
    const Result<std::string> body = co_await request_body_of(operation);
    if (!body) co_return body.error();
    const Intent original = recorded_intent(operation, *body);
    const CanonicalDigest now = canonical_digest(veiled(write_.intent, operation.key), write_.rule->intent,
                                                 intent_limits());
    co_return canonical_digest(original, write_.rule->intent, intent_limits()) == now;
}

// True: this caller was answered, as `operation` is another request, or as the store can't say what it was. A record
// that can't be read is no mismatch: the advice to take a new ID would run the action twice. Those who wait have
// payloads of their own.
Task<bool> CallerPass::told_apart(const Operation& operation) {
    const Result<bool> same = co_await same_request(operation);
    if (!same) {
        tell_trouble(same.error());
        co_return true;
    }
    if (*same) co_return false;
    const Result<std::string> body = co_await request_body_of(operation);
    if (!body) {
        tell_trouble(body.error());
        co_return true;
    }
    const Intent original = recorded_intent(operation, *body);
    const Intent mine = veiled(write_.intent, operation.key);
    std::vector<std::string> places = differences(original, mine, write_.rule->intent, intent_limits());
    if (places.empty()) places.emplace_back("target");  // the same address under another provider's name
    const bool only_credentials = operation.provider == write_.profile->provider &&
                                  places == std::vector<std::string>{"target"} &&
                                  differ_in_credentials_alone(original, mine);
    tell_me(mismatch_problem(operation, std::move(places), only_credentials));
    co_return true;
}

void CallerPass::tell(Problem problem) {
    parts_.observer.answered(write_.profile->provider, traits(problem.kind).slug);
    told_.mine = rendered(problem, &operation_);
    told_.shared = true;
    told_.problem = std::move(problem);
}

void CallerPass::tell_me(Problem problem) {
    parts_.observer.answered(write_.profile->provider, traits(problem.kind).slug);
    told_.mine = rendered(problem, nullptr);
    told_.shared = false;
}

void CallerPass::tell_status() { tell(problem_of(operation_, plan(), now())); }

void CallerPass::tell_trouble(const Error& error) { tell_me(store_problem(error)); }

// The attempt is in the record; a record that can't be read changes nothing about the answer.
Task<Problem> CallerPass::still_running() {
    auto loading = parts_.store.load(binding_.key());
    const Result<Loaded> loaded = co_await std::move(loading);
    const Operation* running = loaded ? std::get_if<Operation>(&*loaded) : nullptr;
    if (running != nullptr && running->status == OperationStatus::in_progress) co_return in_progress_problem(*running);
    co_return in_progress();
}

Problem CallerPass::in_progress() const {
    Operation running;
    running.id = write_.id.value();
    return in_progress_problem(running);
}

Problem CallerPass::store_problem(const Error& error) const {
    if (error.kind() == ErrorKind::conflict) return in_progress();
    if (sent_) return unrecorded_problem();
    const bool overloaded = error.kind() == ErrorKind::overloaded;
    Problem problem = simple_problem(overloaded ? ProblemKind::overloaded : ProblemKind::store_unavailable,
                                     fmt::format("Retry later with the SAME operation ID. {}: the ledger could not "
                                                 "record this operation.",
                                                 nothing_sent()),
                                     write_.id.value());
    if (operation_.doubt) problem.operation_status = OperationStatus::unknown;
    return problem;
}

// What this request sent is out, and the ledger can't say what came of it.
Problem CallerPass::unrecorded_problem() const {
    Problem problem = simple_problem(
        ProblemKind::outcome_unknown,
        "Retry the same request with the SAME operation ID; do not use a new one. The attempt ended, but the ledger "
        "could not record what comes of it.",
        write_.id.value());
    problem.operation_status = OperationStatus::unknown;
    return problem;
}

std::string_view CallerPass::nothing_sent() const {
    return operation_.doubt ? "This request sent nothing (an earlier attempt may have reached the provider)"
                            : "Nothing was sent";
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
        if (!problem.operation_attempt.empty()) {
            answer.answer.fields.emplace_back("Operation-Attempt", problem.operation_attempt);
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
    if (!operation.response->body.kept) return rendered(answer_not_kept_problem(operation), &operation);
    return replayed(operation, outcome.body);
}

}  // namespace opid
