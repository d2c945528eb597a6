#pragma once
// Writes transitions: the one place that turns an event into a durable record and tells the observer afterwards.
#include <memory>

#include "core/operation/event.hpp"
#include "core/operation/operation.hpp"
#include "engine/ports/observer.hpp"
#include "engine/ports/operation_store.hpp"
#include "engine/task.hpp"

namespace opid {

class Ledger {
public:
    Ledger(OperationStore& store, Observer& observer) : store_(store), observer_(observer) {}

    // Stores `operation` as it is now; its version is still the one that the store has (0: none). On success the
    // version is one more. On failure nothing is changed here, and the store says whether anything is there.
    Task<Status> write(Operation& operation);

private:
    OperationStore& store_;
    Observer& observer_;
};

}  // namespace opid
