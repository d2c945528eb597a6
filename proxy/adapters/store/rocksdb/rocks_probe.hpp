#pragma once
// For tests and bench only: what a store does not offer to the proxy.
#include <string>
#include <vector>

#include "adapters/store/rocksdb/rocks_store.hpp"

namespace opid {

struct RocksStoreProbe {
    // Writes finished records without a sync each; flush() makes them durable. Nothing is checked.
    static Status fill(RocksStore& store, const std::vector<Operation>& operations);
    static Status flush(RocksStore& store);
    static Status break_open_record(RocksStore& store, const OperationKey& key);  // overwrites it with nonsense
    static std::uint64_t stored_bytes(const RocksStore& store, const OperationKey& key);  // in `operations`
};

}  // namespace opid
