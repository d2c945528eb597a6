#include "engine/write_coordinator.hpp"

#include <utility>

#include "core/operation/step.hpp"
#include "engine/caller_pass.hpp"
#include "engine/ledger.hpp"
#include "engine/outcome.hpp"

namespace opid {
namespace {

class BriefHold {
public:
    BriefHold(InFlightTable& table, InFlightTable::SlotPtr slot) : table_(table), slot_(std::move(slot)) {}
    ~BriefHold() {
        if (slot_) table_.release(slot_, nullptr);
    }
    BriefHold(const BriefHold&) = delete;
    BriefHold& operator=(const BriefHold&) = delete;

private:
    InFlightTable& table_;
    InFlightTable::SlotPtr slot_;
};

// Says what an operator may do instead.
std::string not_allowed_text(const Event& event, OperationStatus status) {
    const std::string is = "the operation is " + std::string(to_word(status));
    if (std::holds_alternative<Resolved>(event)) {
        return is + "; only one in doubt (unknown or needs_review) can be resolved";
    }
    if (std::holds_alternative<Cancelled>(event)) {
        return is + "; only one that is prepared or awaiting_approval can be cancelled, one in doubt is resolved";
    }
    if (std::holds_alternative<Approved>(event)) return is + "; only one that is awaiting_approval can be approved";
    if (std::holds_alternative<Denied>(event)) {
        return is + "; only one that is awaiting_approval, or approved and not sent yet, can be denied";
    }
    return is + ", so it can't be " + std::string(to_word(event));
}

}  // namespace

// The ladder of the rule that an operation was made under; review alone where the rule is gone.
RecoveryPlan WriteCoordinator::plan_of(const Operation& operation, const ProfileBoard& board) const {
    const auto profiles = board.current();
    const ProfilePtr profile = profiles->by_name(operation.provider);
    if (!profile) return {};
    const Rule* rule = &profile->default_rule;
    for (const Rule& each : profile->rules) {
        if (each.name != operation.rule) continue;
        rule = &each;
        break;
    }
    return proofs_.proven_plan(*profile, *rule, operation.intent.scheme_authority).value_or(rule->recovery);
}

Task<GuardedAnswer> WriteCoordinator::handle(GuardedWrite write, ResponseSink* sink) {
    CallerPass pass(parts_, table_, proofs_, std::move(write), sink);
    GuardedAnswer answer = co_await pass.run();
    co_return answer;
}

Task<Result<Operation>> WriteCoordinator::apply(OperationKey key, Event event, std::string actor,
                                                const ProfileBoard& board) {
    InFlightTable::SlotPtr held;
    InFlightTable::SlotPtr slot = table_.try_hold(key, held);
    if (!slot) co_return Error(ErrorKind::conflict, "an attempt of this operation is running: wait for its end");
    const BriefHold hold(table_, slot);
    Result<Loaded> loaded = co_await parts_.store.load(key);
    if (!loaded) co_return loaded.error();
    auto* operation = std::get_if<Operation>(&*loaded);
    if (operation == nullptr) co_return Error(ErrorKind::not_found, "no such operation");
    if (!advance(*operation, event, parts_.timers.now(), actor)) {
        co_return Error(ErrorKind::invalid, not_allowed_text(event, operation->status));
    }
    const bool owner_lost = std::holds_alternative<OwnerLost>(event);
    settle_next_step(*operation, plan_of(*operation, board), parts_.timers.now(), owner_lost);
    Ledger ledger(parts_.store, parts_.observer);
    const Status written = co_await ledger.write(*operation);
    if (!written) co_return written.error();
    co_return std::move(*operation);
}

Task<Result<std::size_t>> WriteCoordinator::recover_owned_by_the_dead(const ProfileBoard& board) {
    const Status remembered = co_await proofs_.load();
    if (!remembered) co_return remembered.error();
    Result<std::vector<Operation>> found = co_await parts_.store.in_progress();
    if (!found) co_return found.error();
    std::size_t moved = 0;
    for (const Operation& operation : *found) {
        const bool mine = operation.owner.node == parts_.node.name;
        const bool expired = operation.owner.lease_until <= parts_.timers.now();
        if (mine && operation.owner.epoch == parts_.node.epoch) continue;
        if (!mine && !expired) continue;
        const Event lost = OwnerLost{};
        Result<Operation> applied = co_await apply(operation.key, lost, "opid", board);
        if (!applied) co_return applied.error();
        ++moved;
    }
    co_return moved;
}

Task<Result<std::size_t>> WriteCoordinator::sweep_open(const ProfileBoard& board, std::size_t limit, DuePlace& place) {
    Result<std::vector<Operation>> due = co_await parts_.store.due(parts_.timers.now(), place, limit);
    if (!due) co_return due.error();
    const bool more = !due->empty() && due->size() == limit;
    place = more ? DuePlace{due->back().next_step.at, due->back().key} : DuePlace{};
    std::size_t moved = 0;
    // An outcome that could not be recorded leaves its operation claimed by this process with nobody at work on it.
    // Whoever is at work holds the slot, and apply() then leaves the operation alone.
    Result<std::vector<Operation>> claimed = co_await parts_.store.in_progress();
    if (!claimed) co_return claimed.error();
    for (const Operation& operation : *claimed) {
        const bool mine = operation.owner.node == parts_.node.name;
        if (!mine && operation.owner.lease_until > parts_.timers.now()) continue;
        const Event lost = OwnerLost{};
        Result<Operation> applied = co_await apply(operation.key, lost, "opid", board);
        if (applied) ++moved;
    }
    for (const Operation& operation : *due) {
        if (operation.status != OperationStatus::unknown) continue;
        const LadderMove move = next_move(operation, plan_of(operation, board), parts_.timers.now(), false);
        if (move.kind != NextStepKind::review) continue;
        const Event ended = LadderEnded{move.reason};
        Result<Operation> applied = co_await apply(operation.key, ended, "opid", board);
        if (applied) ++moved;
    }
    co_return moved;
}

}  // namespace opid
