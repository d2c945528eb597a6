#pragma once
// The embedded store: RocksDB under one committer thread that merges everything queued into one synced write.
//
// <directory>/db          the database
// <directory>/db.log      what the database reports about itself, for people
// <directory>/LOCK        held while a process uses the directory
// <directory>/high_water  the write-ahead log and sequence number that must still be there at the next start
// <directory>/horizon     only after a restore: until when history is known
//
// A write that finds no space closes the store to commits until the disk takes writes again; a sync that fails
// closes it until the next start.
//
// Threads: "opid-commit" is the only writer, "opid-read" (two) serve reads that may touch the disk,
// "opid-maint" sweeps, backs up and keeps the high-water file fresh. The io_contexts whose coroutines wait
// on a store must outlive it: the destructor finishes what is queued and posts every completion.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/store/rocksdb/store_files.hpp"
#include "engine/ports/operation_store.hpp"

namespace rocksdb {
class Env;
}

namespace opid {

inline constexpr std::uint64_t mebibyte = 1024 * 1024;

struct RocksOptions {
    std::string directory;  // created when missing, mode 0700
    std::string node;       // name of this node, for messages; the store itself has one writer
    std::uint64_t block_cache_bytes = 64 * mebibyte;
    std::uint64_t write_buffer_bytes = 64 * mebibyte;  // all memtables together
    int open_files_max = 512;                          // tables beyond it are opened anew for each read
    std::uint64_t wal_bytes_max = 128 * mebibyte;      // a start costs 6-8 ms per MiB of it
    std::size_t inline_body_bytes_max = 4096;          // larger bodies are kept beside the record

    // A claim (a new record, or a move to in_progress) is refused as overloaded when this much is queued.
    // Other commits, whose claim was let in before, may use four times as much.
    std::size_t queue_commits_max = 8192;
    std::uint64_t queue_bytes_max = 64 * mebibyte;
    std::size_t batch_commits_max = 512;
    std::uint64_t batch_bytes_max = 4 * mebibyte;
    // Wait this long for company before a write, only where at least linger_in_progress_min operations are
    // in progress and fewer than linger_commits_max commits are queued. 0: never.
    std::chrono::microseconds linger{0};
    std::size_t linger_in_progress_min = 32;
    std::size_t linger_commits_max = 24;

    std::uint64_t low_disk_bytes = 512 * mebibyte;    // below: claims are unavailable, outcomes go on; heals by itself
    std::uint64_t warn_disk_bytes = 2048 * mebibyte;  // below: health().reason says so
    Millis free_space_interval{200};                  // how old a reading of the free space may be
    Millis heal_interval{200};  // between looks whether a full disk has space; up to ten times it between recoveries
    Millis high_water_interval{1000};  // how old the high-water sequence may be while there are commits

    // The database is a restored backup: records begun after the backup are unknown here, and a retry of one
    // would run again. Open refuses until the operator says that this is understood. Also lets a database
    // open whose high-water file is gone.
    bool accept_restore_horizon = false;

    std::function<std::uint64_t(const std::string& directory)> free_space;  // bytes; empty: statvfs
    std::function<Instant()> now;                                           // needed; dates backups
    rocksdb::Env* env = nullptr;  // tests: a file system that fails or loses power; not owned
};

class RocksStore final : public OperationStore {
public:
    // Opens or creates. The error says what is wrong and what to do; damage names `opid store verify`.
    static Result<std::unique_ptr<RocksStore>> open(RocksOptions options);
    ~RocksStore() override;
    RocksStore(const RocksStore&) = delete;
    RocksStore& operator=(const RocksStore&) = delete;

    Task<Result<Loaded>> load(OperationKey key) override;
    std::optional<Result<Loaded>> load_now(const OperationKey& key) override;
    void begin_commit(const Commit& commit, Executor executor, std::shared_ptr<CommitListener> listener) override;
    Task<Result<std::string>> load_body(OperationKey key, BodyPart part) override;
    Task<Result<std::vector<HistoryEvent>>> load_history(OperationKey key) override;
    Task<Result<ListPage>> list(ListQuery query) override;
    Task<Result<std::string>> allocate_step(std::string tenant, std::string step, std::string proposed_id) override;
    Task<Result<std::vector<Operation>>> due(Instant until, DuePlace after, std::size_t limit) override;
    Task<Result<std::vector<Operation>>> in_progress() override;
    Task<Result<SweepResult>> sweep(Instant records_kept_until, Instant tombstones_kept_until, Instant now) override;
    Task<Status> remember(std::string fact) override;
    Task<Result<std::vector<std::string>>> remembered() override;
    StoreHealth health() const override;

    // A consistent copy into the backup folder `target` (made when missing; later backups share files with
    // earlier ones). Runs beside commits, rate-limited. Everything acknowledged before the call is in it.
    Task<Result<BackupInfo>> backup(std::string target);

    // Until when history is known, where this database was once restored from a backup.
    std::optional<Instant> restore_horizon() const;

private:
    friend struct RocksStoreProbe;  // tests and bench: rocks_probe.hpp
    struct Impl;
    explicit RocksStore(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace opid
