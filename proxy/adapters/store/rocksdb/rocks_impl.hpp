#pragma once
// The parts of an open store, in order of construction. Internal to the adapter.
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "adapters/store/rocksdb/committer.hpp"
#include "adapters/store/rocksdb/database.hpp"
#include "adapters/store/rocksdb/directory.hpp"
#include "adapters/store/rocksdb/open_index.hpp"
#include "adapters/store/rocksdb/worker_pool.hpp"

namespace opid {

// Free space of the store's disk, read at most once an interval.
class SpaceGauge {
public:
    explicit SpaceGauge(const RocksOptions& options);
    std::uint64_t free_bytes() const;

private:
    std::function<std::uint64_t(const std::string&)> read_;
    std::string directory_;
    std::chrono::milliseconds interval_;
    mutable std::atomic<std::int64_t> next_reading_{0};  // steady clock, ns
    mutable std::atomic<std::uint64_t> free_{0};
};

struct RocksStore::Impl {
    explicit Impl(RocksOptions given);
    ~Impl();
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    // Opening, in this order.
    Status acknowledge_horizon();
    Status open_database();
    Status check_format(bool fresh);
    Status load_scopes();
    Status load_open();
    void start_threads();

    Status keep_high_water(rocksdb::DB& db);  // where it fails, it has tripped `latch` or `full`
    void out_of_space(const std::string& what);
    Status admit_claim() const;
    Instant now() const;

    // Whether a read that must not touch the disk came to nothing. RocksDB says so in two ways: Incomplete, and, where
    // the table is not open, found but without a value (TableCache::Get). No value of ours is empty.
    static bool gave_up(const rocksdb::ReadOptions& read, const rocksdb::Status& status, const rocksdb::Slice& value) {
        return read.read_tier == rocksdb::kBlockCacheTier && (status.IsIncomplete() || (status.ok() && value.empty()));
    }

    // Reads. tier: kBlockCacheTier gives nullopt where the disk would have to be touched.
    std::optional<Result<Loaded>> load(const OperationKey& key, rocksdb::ReadTier tier);
    std::optional<Result<Loaded>> load_final(const OperationKey& key, const rocksdb::ReadOptions& options);
    Result<std::optional<Operation>> load_record(const OperationKey& key);
    Result<std::vector<Operation>> load_open_records(const std::vector<OperationKey>& keys);
    Result<std::string> load_body(const OperationKey& key, BodyPart part);
    Result<std::vector<HistoryEvent>> load_history(const OperationKey& key);
    Result<ListPage> list(const ListQuery& query);
    Result<ListPage> list_by_id(const ListQuery& query, const std::optional<ListPlace>& cursor);

    // Maintenance; one at a time, on its own thread.
    Result<SweepResult> sweep(Instant records_kept_until, Instant tombstones_kept_until, Instant at);
    Status retire(Instant records_kept_until, Instant at, SweepResult& result);
    Status retire_open(Instant records_kept_until, Instant at, SweepResult& result);
    Status retire_one(rocksdb::WriteBatch& batch, const ListPlace& place, const RecordFacts& facts, Instant at);
    Status forget(Instant tombstones_kept_until, SweepResult& result);
    Status forget_steps(rocksdb::WriteBatch& batch, rocksdb::Iterator& steps, const OperationKey& owner);
    Result<BackupInfo> backup(const std::string& target);

    RocksOptions options;
    StorePaths paths;
    DirectoryLock lock;
    HighWaterFile high_water;
    Latch latch;
    Latch full;
    SpaceGauge space;
    std::optional<Instant> horizon;
    std::atomic<bool> opened{false};   // the listener keeps still until the start is through
    std::atomic<bool> running{false};  // the committer is there and may be woken
    std::atomic<std::uint64_t> durable_sequence{0};
    std::atomic<bool> stopping{false};  // a sweep ends between two steps
    std::atomic<std::uint64_t> marked_wal{0};
    std::unique_ptr<Database> database;
    OpenIndex index;
    ScopeSet scopes;
    std::unique_ptr<Committer> committer;
    std::unique_ptr<WorkerPool> readers;
    std::unique_ptr<WorkerPool> maintenance;
};

}  // namespace opid
