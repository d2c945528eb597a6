#pragma once
// The operations that are not final, in memory: there are few of them, so their dates and versions need neither
// a read nor an extra write. Rebuilt at start from the family `open`. Written by the committer alone.
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "adapters/store/commit_rules.hpp"

namespace opid {

struct OperationKeyHash {
    // Bytes after the tenant prefix are those of a digest: any eight are a good hash.
    std::size_t operator()(const OperationKey& key) const {
        std::size_t hash = 0;
        std::memcpy(&hash, key.bytes.data() + 8, sizeof hash);
        return hash;
    }
};

class OpenIndex {
public:
    bool contains(const OperationKey& key) const;

    // For the committer, which is the only writer and so needs no lock to read.
    const RecordFacts* find_as_writer(const OperationKey& key) const;

    void put(const OperationKey& key, const RecordFacts& facts);
    void erase(const OperationKey& key);

    std::vector<OperationKey> due(Instant until, const DuePlace& after, std::size_t limit) const;  // oldest date first
    std::vector<OperationKey> in_progress() const;                                             // in order of creation
    std::vector<OperationKey> retirable(Instant records_kept_until, std::size_t limit) const;  // see may_retire
    // Newest first, those after the cursor that may match; at most limit.
    std::vector<ListPlace> places(const ListQuery& query, const std::optional<ListPlace>& cursor,
                                  std::size_t limit) const;

    std::uint64_t size() const { return size_.load(std::memory_order_relaxed); }
    std::uint64_t in_progress_count() const { return in_progress_.load(std::memory_order_relaxed); }

private:
    struct Shard {
        mutable std::mutex mutex;
        std::unordered_map<OperationKey, RecordFacts, OperationKeyHash> facts;
    };
    Shard& shard(const OperationKey& key) { return shards_[key.bytes[16] % shards_.size()]; }
    const Shard& shard(const OperationKey& key) const { return shards_[key.bytes[16] % shards_.size()]; }
    void forget(const OperationKey& key, const RecordFacts& facts);

    std::array<Shard, 16> shards_;
    mutable std::mutex dates_mutex_;
    std::set<DuePlace> dates_;
    std::atomic<std::uint64_t> size_{0};
    std::atomic<std::uint64_t> in_progress_{0};
};

}  // namespace opid
