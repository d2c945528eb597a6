#include "adapters/store/rocksdb/committer.hpp"

#include <fmt/format.h>

#include "adapters/store/rocksdb/worker_pool.hpp"

namespace opid {
namespace {

constexpr std::size_t kept_batch_bytes_max = 8 * mebibyte;  // a rare huge batch must not pin its memory

}  // namespace

void Latch::trip(const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (tripped_.load(std::memory_order_relaxed)) return;
    reason_ = why;
    tripped_.store(true, std::memory_order_release);
}

void Latch::lift() {
    const std::lock_guard lock(mutex_);
    reason_.clear();
    tripped_.store(false, std::memory_order_release);
}

std::string Latch::reason() const {
    const std::lock_guard lock(mutex_);
    return reason_;
}

std::vector<ScopeSet::Pair> ScopeSet::all() const {
    const std::lock_guard lock(mutex_);
    return {pairs_.begin(), pairs_.end()};
}

void ScopeSet::add(Pair pair) {
    const std::lock_guard lock(mutex_);
    pairs_.insert(std::move(pair));
}

Committer::Committer(Parts parts, const RocksOptions& options) : parts_(std::move(parts)), options_(options) {
    for (const ScopeSet::Pair& pair : parts_.scopes.all()) known_scopes_.insert(scope_key(pair.first, pair.second));
    thread_ = std::thread([this] {
        name_this_thread("opid-commit");
        run();
    });
}

Committer::~Committer() { stop(); }

void Committer::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

Status Committer::writable() const {
    if (parts_.latch.tripped()) {
        return Error(ErrorKind::unavailable, "the store has stopped: " + parts_.latch.reason());
    }
    if (parts_.full.tripped()) return Error(ErrorKind::unavailable, parts_.full.reason());
    return ok();
}

Status Committer::admit(bool claim, std::size_t bytes) {
    if (Status open = writable(); !open) return open;
    if (stopping_) return Error(ErrorKind::unavailable, "the store is closing");
    // An outcome is let in long after claims are refused: it frees work, and refusing it would leave doubt.
    const std::size_t room = claim ? 1 : 4;
    if (queue_.size() >= room * options_.queue_commits_max ||
        (queued_bytes_ != 0 && queued_bytes_ + bytes > room * options_.queue_bytes_max)) {
        return Error(ErrorKind::overloaded, "too many commits wait for the disk");
    }
    return ok();
}

void Committer::push(Item item, std::size_t bytes) {
    queue_.push_back(std::move(item));
    queued_bytes_ += bytes;
}

namespace {

template <class W>
void deliver_now(W waiter) {
    Hops hops;
    hops.add(std::move(waiter));
    hops.post_all();
}

}  // namespace

void Committer::submit(PreparedCommit commit, CommitWaiter waiter) {
    const std::size_t bytes = commit.bytes();
    {
        const std::lock_guard lock(mutex_);
        waiter->result = admit(commit.claim, bytes);
        if (waiter->result) push(QueuedCommit{std::move(commit), std::move(waiter)}, bytes);
    }
    if (waiter) return deliver_now(std::move(waiter));
    wake_.notify_one();
}

void Committer::submit_step(std::string key, std::string proposed_id, const OperationKey& owner, StepWaiter waiter) {
    {
        const std::lock_guard lock(mutex_);
        const Status admitted = admit(true, 0);
        if (admitted) {
            push(QueuedStep{std::move(key), std::move(proposed_id), owner, std::move(waiter)}, 0);
        } else {
            waiter->result = admitted.error();
        }
    }
    if (waiter) return deliver_now(std::move(waiter));
    wake_.notify_one();
}

Status Committer::write(Fill fill) {
    std::future<Status> done;
    {
        const std::lock_guard lock(mutex_);
        if (Status admitted = admit(false, 0); !admitted) return admitted;
        QueuedWrite item{std::move(fill), {}};
        done = item.done.get_future();
        push(std::move(item), 0);
    }
    wake_.notify_one();
    return done.get();
}

void Committer::wake() {
    { const std::lock_guard lock(mutex_); }  // not between the committer's look and its sleep
    wake_.notify_all();
}

std::optional<Committer::Moment> Committer::next_date() const {
    if (healing_ && !parts_.latch.tripped()) return heal_due_;
    if (high_water_stale_) return high_water_due_;
    return std::nullopt;
}

bool Committer::wait_for_work(std::unique_lock<std::mutex>& lock) {
    const auto ready = [this] { return stopping_ || !queue_.empty() || parts_.full.tripped() != healing_; };
    if (const std::optional<Moment> date = next_date()) {
        wake_.wait_until(lock, *date, ready);
    } else {
        wake_.wait(lock, ready);
    }
    return !queue_.empty() || !stopping_;
}

// Company is likely where many operations are on their way; a short wait then saves a whole sync.
void Committer::linger(std::unique_lock<std::mutex>& lock) {
    if (options_.linger.count() == 0 || queue_.empty() || queue_.size() >= options_.linger_commits_max ||
        parts_.index.in_progress_count() < options_.linger_in_progress_min) {
        return;
    }
    wake_.wait_for(lock, options_.linger,
                   [this] { return stopping_ || queue_.size() >= options_.linger_commits_max; });
}

std::vector<Committer::Item> Committer::take() {
    std::vector<Item> items;
    std::uint64_t bytes = 0;
    while (!queue_.empty() && items.size() < options_.batch_commits_max) {
        const bool alone = std::holds_alternative<QueuedWrite>(queue_.front());
        if (alone && !items.empty()) break;
        const auto* commit = std::get_if<QueuedCommit>(&queue_.front());
        const std::size_t size = commit != nullptr ? commit->commit.bytes() : 0;
        if (!items.empty() && bytes + size > options_.batch_bytes_max) break;
        bytes += size;
        queued_bytes_ -= size;
        items.push_back(std::move(queue_.front()));
        queue_.pop_front();
        if (alone) break;
    }
    return items;
}

void Committer::run() {
    std::unique_lock lock(mutex_);
    while (wait_for_work(lock)) {
        linger(lock);
        std::vector<Item> items = take();
        lock.unlock();
        if (!items.empty()) process(std::move(items));
        high_water_if_due();
        heal_if_due();
        lock.lock();
    }
}

void Committer::high_water_if_due() {
    if (!high_water_stale_ || monotonic_now() < high_water_due_) return;
    high_water_stale_ = false;
    static_cast<void>(parts_.keep_high_water());
}

Status Committer::write_synced(rocksdb::WriteBatch& batch) {
    rocksdb::WriteOptions options;
    options.sync = true;
    const rocksdb::Status status = parts_.database.db().Write(options, &batch);
    if (!status.ok()) {
        write_failed(status);
        return Error(ErrorKind::indeterminate, "the write failed and may or may not be on disk: " + status.ToString());
    }
    syncs_.fetch_add(1, std::memory_order_relaxed);
    parts_.durable_sequence.store(parts_.database.db().GetLatestSequenceNumber(), std::memory_order_release);
    if (!high_water_stale_) {
        high_water_stale_ = true;
        high_water_due_ = monotonic_now() + options_.high_water_interval;
    }
    return ok();
}

void Committer::process_write(QueuedWrite& item) {
    item.done.set_value(fill_and_write(item.fill));
}

Status Committer::fill_and_write(const Fill& fill) {
    if (Status open = writable(); !open) return open;
    rocksdb::WriteBatch batch;
    std::vector<OperationKey> ended;
    if (Status filled = fill(batch, ended); !filled || batch.Count() == 0) return filled;
    const Status written = write_synced(batch);
    if (!written) {
        doubtful_.insert(doubtful_.end(), ended.begin(), ended.end());
        return written;
    }
    for (const OperationKey& key : ended) parts_.index.erase(key);
    return ok();
}

void Committer::process(std::vector<Item> items) {
    if (auto* alone = std::get_if<QueuedWrite>(&items.front())) return process_write(*alone);
    Round round;
    batch_.Clear();
    for (Item& item : items) {
        if (auto* commit = std::get_if<QueuedCommit>(&item)) {
            commit->waiter->result = decide(round, commit->commit);
        } else if (auto* step = std::get_if<QueuedStep>(&item)) {
            step->waiter->result = decide_step(round, *step);
        }
    }
    Status written = ok();
    if (batch_.Count() != 0) {
        written = write_synced(batch_);
        if (written) {
            apply(round);
        } else {
            for (const auto& entry : round.records) doubtful_.push_back(entry.first);
        }
    }
    Hops hops;
    for (Item& item : items) {
        if (auto* commit = std::get_if<QueuedCommit>(&item)) {
            if (!written && commit->waiter->result) commit->waiter->result = written;
            hops.add(std::move(commit->waiter));
        } else if (auto* step = std::get_if<QueuedStep>(&item)) {
            if (!written && step->waiter->result) step->waiter->result = written.error();
            hops.add(std::move(step->waiter));
        }
    }
    hops.post_all();
    if (batch_.GetDataSize() > kept_batch_bytes_max) batch_ = rocksdb::WriteBatch();
}

void Committer::apply(const Round& round) {
    for (const auto& [key, state] : round.records) {
        if (is_final(state.facts.status)) {
            parts_.index.erase(key);
        } else {
            parts_.index.put(key, state.facts);
        }
    }
    for (const ScopeSet::Pair& pair : round.scopes) {
        known_scopes_.insert(scope_key(pair.first, pair.second));
        parts_.scopes.add(pair);
    }
    commits_.fetch_add(round.commits, std::memory_order_relaxed);
}

}  // namespace opid
