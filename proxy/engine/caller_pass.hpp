#pragma once
// One caller's way through the engine: hold the operation or wait for its holder, decide by its status, attempt,
// record, answer. Lives in the coroutine of the caller's request.
#include <memory>
#include <optional>
#include <string>

#include "core/operation/ladder.hpp"
#include "engine/guarded_write.hpp"
#include "engine/in_flight_table.hpp"
#include "engine/ledger.hpp"
#include "engine/write_coordinator.hpp"

namespace opid {

class CallerPass {
public:
    CallerPass(EngineParts& parts, InFlightTable& table, GuardedWrite write, ResponseSink* sink);
    CallerPass(const CallerPass&) = delete;
    CallerPass& operator=(const CallerPass&) = delete;

    Task<GuardedAnswer> run();

private:
    // What this caller is answered, and what those who waited share.
    struct Told {
        GuardedAnswer mine;
        Operation operation;
        std::optional<Problem> problem;
        bool look_again = true;  // nothing to share
    };

    // caller_pass.cpp: holding, deciding, replaying.
    Task<std::optional<GuardedAnswer>> join(InFlightTable::SlotPtr held, Instant until);
    Task<GuardedAnswer> hold(InFlightTable::SlotPtr slot);
    Task<Told> look_and_decide();
    Task<Told> decide(Operation operation);
    Task<Told> decide_prepared(Operation operation);
    Task<Told> first_time();
    Task<Told> replay(Operation operation);
    Task<bool> same_request(const Operation& operation);
    Task<Told> mismatch(Operation operation);
    Task<std::string> request_body_of(const Operation& operation);

    // caller_attempts.cpp: everything that may send.
    Task<Told> owner_lost(Operation operation);
    Task<Told> recover(Operation operation);
    Task<Told> review(Operation operation, std::string reason);
    Task<Told> attempts(Operation operation);
    Task<std::optional<Problem>> claim(Operation& operation, const std::string& key);
    Task<std::optional<Problem>> reserve_caller_key(const Operation& operation, const std::string& key);
    std::optional<Millis> pause_before_next(const Operation& operation, Instant until) const;
    Told settled(Operation operation, InboundResponse response, std::shared_ptr<const std::string> body, bool passed_on,
                 bool streamed);

    Told tell(Problem problem, Operation operation);
    Told store_trouble(const Error& error);
    Problem store_problem(const Error& error) const;
    GuardedAnswer as_waiter(const SharedOutcome& outcome);
    GuardedAnswer rendered(const Problem& problem, const Operation* operation) const;
    GuardedAnswer replayed(const Operation& operation, std::shared_ptr<const std::string> body) const;
    const RecoveryPlan& plan() const { return write_.rule->recovery; }
    IntentLimits intent_limits() const { return IntentLimits{parts_.limits.decoded_body}; }
    Instant now() const { return parts_.timers.now(); }

    EngineParts& parts_;
    InFlightTable& table_;
    Ledger ledger_;
    GuardedWrite write_;
    ResponseSink* sink_;
    Operation draft_;  // this request's own key, intent and digests; unchanged after construction
};

}  // namespace opid
