#include "engine/ledger.hpp"

#include <utility>

namespace opid {

Task<Status> Ledger::write(Operation& operation) {
    Commit commit;
    commit.expected_version = operation.version;
    commit.spilled = spill_history(operation);
    commit.operation = operation;
    ++commit.operation.version;
    Status status = co_await store_.commit(std::move(commit));
    if (!status) {
        observer_.trouble("store", status.error().what());
        co_return status;
    }
    ++operation.version;
    if (!operation.history.empty()) observer_.moved(operation, operation.history.back());
    co_return status;
}

}  // namespace opid
