#pragma once
// An operation by its ID alone: records are keyed by a digest of tenant, scope and ID, so every key that the ID may
// have is tried, and the list's own filter where none fits.
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "engine/ports/operation_store.hpp"
#include "engine/profile_board.hpp"

namespace opid {

struct OperationQuery {
    std::string id;
    std::string tenant;    // empty: any
    std::string provider;  // empty: any
};

struct FoundOperations {
    std::vector<Operation> operations;                          // more than one: the ID alone is not unique
    std::vector<std::pair<std::string, Tombstone>> tombstones;  // tenant, what is left
};

// tenants: those that are configured.
Task<Result<FoundOperations>> find_operations(OperationStore& store, OperationQuery query,
                                              std::vector<std::string> tenants, ProfileSetPtr profiles);

}  // namespace opid
