#pragma once
// The one writer. Takes everything that is queued, decides each commit against the store and the earlier ones of
// the same round, merges what may go ahead into one write, syncs once, and sends each waiter its result.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include <rocksdb/write_batch.h>

#include "adapters/store/completion.hpp"
#include "adapters/store/rocksdb/database.hpp"
#include "adapters/store/rocksdb/open_index.hpp"

namespace opid {

// A reason not to write. `latch` is shut for good after a failed sync: nobody knows any more what the next one would
// make durable. `full` is shut while the disk has no space, and only the committer lifts it.
class Latch {
public:
    bool tripped() const { return tripped_.load(std::memory_order_acquire); }
    void trip(const std::string& why);  // the first reason stays
    void lift();
    std::string reason() const;

private:
    std::atomic<bool> tripped_{false};
    mutable std::mutex mutex_;
    std::string reason_;
};

// Pairs of (tenant, scope) that occur in the store. Few: they make a look-up by ID alone possible without an index.
class ScopeSet {
public:
    using Pair = std::pair<std::string, std::string>;
    std::vector<Pair> all() const;
    void add(Pair pair);

private:
    mutable std::mutex mutex_;
    std::set<Pair> pairs_;
};

class Committer {
public:
    struct Parts {
        Database& database;
        OpenIndex& index;
        ScopeSet& scopes;
        Latch& latch;
        Latch& full;
        std::atomic<std::uint64_t>& durable_sequence;  // of the database, after the last synced write
        // Called when its interval has passed since an unrecorded commit. A failure has tripped one of the two.
        std::function<Status()> keep_high_water;
    };
    Committer(Parts parts, const RocksOptions& options);
    ~Committer();  // writes what is queued, then joins
    Committer(const Committer&) = delete;
    Committer& operator=(const Committer&) = delete;

    using CommitWaiter = std::unique_ptr<WaiterFor<Status>>;
    using StepWaiter = std::unique_ptr<WaiterFor<Result<std::string>>>;

    // Any thread. The waiter gets its result in every case.
    void submit(PreparedCommit commit, CommitWaiter waiter);
    // owner: the operation that the proposed ID names.
    void submit_step(std::string key, std::string proposed_id, const OperationKey& owner, StepWaiter waiter);

    // From a thread that may block: one synced write of its own, between the rounds. `fill` runs on the committer's
    // thread, so what it finds in the open index holds until the write; it names the open operations that the write
    // ends. An error of it: nothing is written.
    using Fill = std::function<Status(rocksdb::WriteBatch& batch, std::vector<OperationKey>& ended)>;
    Status write(Fill fill);

    void wake();  // after `full` was tripped by another thread
    void stop();
    std::uint64_t commits() const { return commits_.load(std::memory_order_relaxed); }
    std::uint64_t syncs() const { return syncs_.load(std::memory_order_relaxed); }

private:
    struct QueuedCommit {
        PreparedCommit commit;
        CommitWaiter waiter;
    };
    struct QueuedStep {
        std::string key;
        std::string proposed_id;
        OperationKey owner;
        StepWaiter waiter;
    };
    struct QueuedWrite {
        Fill fill;
        std::promise<Status> done;
    };
    using Item = std::variant<QueuedCommit, QueuedStep, QueuedWrite>;
    // What a round has decided so far, on top of the store.
    struct Round {
        std::unordered_map<OperationKey, StoredState, OperationKeyHash> records;
        std::unordered_map<std::string, std::string> steps;
        std::vector<ScopeSet::Pair> scopes;
        std::uint64_t commits = 0;
    };
    using Moment = std::chrono::steady_clock::time_point;

    Status writable() const;
    Status admit(bool claim, std::size_t bytes);  // with the lock held
    void push(Item item, std::size_t bytes);      // with the lock held
    void run();
    bool wait_for_work(std::unique_lock<std::mutex>& lock);
    std::optional<Moment> next_date() const;
    void linger(std::unique_lock<std::mutex>& lock);
    std::vector<Item> take();
    void process(std::vector<Item> items);
    void process_write(QueuedWrite& item);
    Status fill_and_write(const Fill& fill);
    Status write_synced(rocksdb::WriteBatch& batch);
    void high_water_if_due();

    // In committer_heal.cpp: how a full disk is left behind.
    void write_failed(const rocksdb::Status& status);
    void heal_if_due();
    bool there_is_room();
    Status heal();
    Status no_space_yet(const rocksdb::Status& status, std::string_view what);
    Status reread(const OperationKey& key);

    Status decide(Round& round, PreparedCommit& commit);
    Result<StoredState> stored_state(const Round& round, const OperationKey& key);
    Status stage(Round& round, PreparedCommit& commit, const StoredState& stored);
    Status stage_bodies(Round& round, PreparedCommit& commit, const StoredState& stored);
    void stage_scope(Round& round, const PreparedCommit& commit);
    Result<std::string> decide_step(Round& round, const QueuedStep& step);
    void apply(const Round& round);

    Parts parts_;
    const RocksOptions options_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Item> queue_;
    std::uint64_t queued_bytes_ = 0;
    bool stopping_ = false;
    std::unordered_set<std::string> known_scopes_;  // committer thread only
    rocksdb::WriteBatch batch_;
    std::atomic<std::uint64_t> commits_{0};
    std::atomic<std::uint64_t> syncs_{0};
    bool high_water_stale_ = false;
    Moment high_water_due_{};
    bool healing_ = false;  // `full` was seen; heal_due_ is set
    Moment heal_due_{};
    Millis heal_pause_{0};
    std::vector<OperationKey> doubtful_;  // of writes that found no space: read anew when healed
    std::thread thread_;  // last: starts when the rest is there
};

}  // namespace opid
