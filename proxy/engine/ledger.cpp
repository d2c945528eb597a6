#include "engine/ledger.hpp"

#include <iterator>
#include <utility>

namespace opid {

// The operation is lent to the commit: a record has some thirty texts, and none of them is copied on its way.
Task<Status> Ledger::write(Operation& operation) {
    Commit commit;
    commit.expected_version = operation.version;
    commit.spilled = spill_history(operation);
    commit.operation = std::move(operation);
    ++commit.operation.version;
    Status status = co_await awaited_commit(store_, commit);
    operation = std::move(commit.operation);
    if (!status) {
        --operation.version;
        operation.history.insert(operation.history.begin(), std::make_move_iterator(commit.spilled.begin()),
                                 std::make_move_iterator(commit.spilled.end()));
        observer_.trouble("store", status.error().what());
        co_return status;
    }
    if (!operation.history.empty()) observer_.moved(operation, operation.history.back());
    co_return status;
}

}  // namespace opid
