#pragma once
// The one loop that carries out what the state machine decides: durable before visible. It owns the in-flight
// table; for one operation at a time exactly one caller, sweep or admin command holds the slot and writes.
// Every member may be called from any I/O thread; a Task resumes on the executor that awaits it.
#include <string>

#include "base/result.hpp"
#include "core/operation/event.hpp"
#include "engine/guarded_write.hpp"
#include "engine/in_flight_table.hpp"
#include "engine/key_proofs.hpp"
#include "engine/ports/entropy.hpp"
#include "engine/ports/observer.hpp"
#include "engine/ports/operation_store.hpp"
#include "engine/ports/timers.hpp"
#include "engine/ports/upstream.hpp"
#include "engine/profile_board.hpp"

namespace opid {

struct EngineLimits {
    Millis upstream_response{60000};
    Millis recovery{20000};   // the ladder inside a caller's own request
    Millis wait{30000};       // joiners
    Millis wait_max{300000};  // bound on Operation-Wait
    Millis lease{15000};      // of a claim; what other nodes wait before they call its owner lost
    std::uint64_t kept_response = 16ull << 20;
    std::size_t decoded_body = 64ull << 20;
    std::uint32_t waiters_per_operation = 4096;
};

struct NodeIdentity {
    std::string name;
    std::uint64_t epoch = 0;  // larger at each start
};

// What the engine works with; all of it outlives the engine.
struct EngineParts {
    OperationStore& store;
    Upstream& upstream;
    Timers& timers;
    Entropy& entropy;
    Observer& observer;
    EngineLimits limits;
    NodeIdentity node;
};

class WriteCoordinator {
public:
    explicit WriteCoordinator(EngineParts parts) : parts_(std::move(parts)), proofs_(parts_.store) {}

    // One guarded write from its bound intent to its answer (steps 5 to 9 of the life of a write). The caller's
    // departure doesn't end it.
    Task<GuardedAnswer> handle(GuardedWrite write, ResponseSink* sink);

    // in_progress of earlier epochs becomes unknown, and what the store remembers counts. Run before the listener
    // opens. Returns how many operations it moved.
    Task<Result<std::size_t>> recover_owned_by_the_dead(const ProfileBoard& board);

    // Moves open operations on: one that is claimed while nobody works on it becomes unknown, an unknown one whose
    // date has come and that has no automatic step left becomes needs_review. Looks at `limit` of those, from
    // behind `place` on, and moves it on; back at the start when there are no more. Returns how many it moved.
    Task<Result<std::size_t>> sweep_open(const ProfileBoard& board, std::size_t limit, DuePlace& place);

    // An operator's word, through the same slot and state machine. not_found: no such record (or a tombstone);
    // conflict: an attempt is running; invalid: the event may not meet the status, the text says which that is.
    Task<Result<Operation>> apply(OperationKey key, Event event, std::string actor, const ProfileBoard& board);

    std::size_t in_flight() const { return table_.size(); }

private:
    RecoveryPlan plan_of(const Operation& operation, const ProfileBoard& board) const;

    EngineParts parts_;
    InFlightTable table_;
    KeyProofs proofs_;
};

}  // namespace opid
