#pragma once
// One caller's way through the engine: hold the operation or wait for its holder, decide by its status, attempt,
// record, answer. Lives in the coroutine of the caller's request.
#include <memory>
#include <optional>
#include <string>

#include "core/operation/ladder.hpp"
#include "engine/binding.hpp"
#include "engine/guarded_write.hpp"
#include "engine/in_flight_table.hpp"
#include "engine/key_proofs.hpp"
#include "engine/ledger.hpp"
#include "engine/write_coordinator.hpp"

namespace opid {

class CallerPass {
public:
    CallerPass(EngineParts& parts, InFlightTable& table, KeyProofs& proofs, GuardedWrite write, ResponseSink* sink);
    CallerPass(const CallerPass&) = delete;
    CallerPass& operator=(const CallerPass&) = delete;

    Task<GuardedAnswer> run();

private:
    // What this caller is answered, and what those who waited share with it.
    struct Told {
        GuardedAnswer mine;
        std::optional<Problem> problem;
        std::shared_ptr<const std::string> body;
        bool shared = false;  // false: those who waited look again
    };

    // caller_pass.cpp: holding, deciding, replaying. Whoever holds the slot works on operation_ and fills told_.
    Task<std::optional<GuardedAnswer>> join(InFlightTable::SlotPtr held, Instant until);
    Task<GuardedAnswer> hold(InFlightTable::SlotPtr slot);
    Task<> look_and_decide();
    Task<> decide();
    Task<> explain();
    Task<> decide_prepared();
    Task<> first_time();
    Task<> replay();
    Task<Result<bool>> same_request(const Operation& operation);
    Task<bool> told_apart(const Operation& operation);
    Task<Result<std::string>> request_body_of(const Operation& operation);

    // caller_attempts.cpp: everything that may send.
    Task<> owner_lost();
    Task<> recover();
    Task<> review(std::string reason);
    Task<> attempts();
    Task<Status> keep_to_the_record();
    Task<std::optional<Problem>> claim(const std::string& key);
    Task<std::optional<Problem>> reserve_caller_key(const std::string& key);
    Task<> note_proof();
    std::optional<Millis> pause_before_next(Instant until) const;
    void settled(InboundResponse& response, bool passed_on, bool streamed);

    void tell(Problem problem);     // about operation_; those who wait hear it too
    void tell_me(Problem problem);  // this caller alone
    void tell_status();             // what operation_'s status means
    void tell_trouble(const Error& error);
    Problem store_problem(const Error& error) const;
    Problem unrecorded_problem() const;
    std::string_view nothing_sent() const;  // by this request
    Task<Problem> still_running();
    Problem in_progress() const;
    GuardedAnswer as_waiter(const SharedOutcome& outcome);
    GuardedAnswer rendered(const Problem& problem, const Operation* operation) const;
    GuardedAnswer replayed(const Operation& operation, std::shared_ptr<const std::string> body) const;
    const RecoveryPlan& plan() const { return proven_plan_ ? *proven_plan_ : write_.rule->recovery; }
    IntentLimits intent_limits() const { return IntentLimits{parts_.limits.decoded_body}; }
    Instant now() const { return parts_.timers.now(); }

    EngineParts& parts_;
    InFlightTable& table_;
    KeyProofs& proofs_;
    Ledger ledger_;
    const GuardedWrite write_;
    ResponseSink* sink_;
    const Binding binding_;
    std::optional<GuardedWrite> original_;  // what is sent in place of write_, where the record spells it otherwise
    std::optional<RecoveryPlan> proven_plan_;
    Operation operation_;
    bool sent_ = false;  // this request has sent something
    Told told_;
};

}  // namespace opid
