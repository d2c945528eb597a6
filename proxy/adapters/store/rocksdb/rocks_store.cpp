#include "adapters/store/rocksdb/rocks_store.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <fmt/format.h>

#include "adapters/store/rocksdb/rocks_impl.hpp"
#include "core/operation/record_codec.hpp"

namespace opid {
namespace {

constexpr unsigned reader_threads = 2;
constexpr std::size_t reader_queue_max = 4096;
constexpr std::size_t maintenance_queue_max = 16;
constexpr std::string_view format_name = "format";

std::uint64_t free_space_of(const std::string& directory) {
    struct statvfs facts {};
    if (::statvfs(directory.c_str(), &facts) != 0) return 0;
    return static_cast<std::uint64_t>(facts.f_bavail) * facts.f_frsize;
}

std::int64_t steady_ns() { return monotonic_now().time_since_epoch().count(); }

}  // namespace

SpaceGauge::SpaceGauge(const RocksOptions& options)
    : read_(options.free_space ? options.free_space : free_space_of),
      directory_(options.directory),
      interval_(options.free_space_interval) {}

std::uint64_t SpaceGauge::free_bytes() const {
    const std::int64_t now = steady_ns();
    std::int64_t due = next_reading_.load(std::memory_order_relaxed);
    // Whoever moves the date on does the reading; the others take the last one.
    if (now >= due) {
        const std::int64_t next = now + std::chrono::nanoseconds(interval_).count();
        if (next_reading_.compare_exchange_strong(due, next, std::memory_order_relaxed)) {
            free_.store(read_(directory_), std::memory_order_relaxed);
        }
    }
    return free_.load(std::memory_order_relaxed);
}

RocksStore::Impl::Impl(RocksOptions given)
    : options(std::move(given)), paths(options.directory), high_water(paths.high_water), space(options) {}

RocksStore::Impl::~Impl() {
    stopping = true;
    if (maintenance) maintenance->stop();
    if (readers) readers->stop();
    if (committer) committer->stop();
    if (database && opened && !latch.tripped()) static_cast<void>(keep_high_water(database->db()));
    opened = false;
    if (database) database->close();
}

Instant RocksStore::Impl::now() const {
    return options.now();
}

Status RocksStore::Impl::acknowledge_horizon() {
    const Result<std::optional<Instant>> pending = read_horizon(paths.horizon);
    if (!pending) return pending.error();
    if (!*pending) {
        const Result<std::optional<Instant>> accepted = read_horizon(paths.horizon_accepted);
        if (accepted) horizon = *accepted;
        return ok();
    }
    if (!options.accept_restore_horizon) {
        return Error(ErrorKind::invalid,
                     fmt::format("the store in {} was restored from a backup: operations are known until {}; an "
                                 "operation begun later is unknown here, and its retry would run again. To go "
                                 "on all the same, start once with `opid serve --accept-restore`",
                                 paths.directory, utc_text(**pending)));
    }
    horizon = *pending;
    if (std::rename(paths.horizon.c_str(), paths.horizon_accepted.c_str()) != 0) {
        return Error(ErrorKind::unavailable, "can't rename " + paths.horizon);
    }
    return sync_directory(paths.directory);
}

Status RocksStore::Impl::open_database() {
    const Result<HighWater> before = check_high_water(paths, high_water, options.accept_restore_horizon);
    if (!before) return before.error();
    const bool fresh = !database_exists(paths);
    HighWater opening = *before;
    opening.opening = true;
    if (Status marked = high_water.write(opening); !marked) return marked;

    Database::Hooks hooks;
    hooks.before_flush = [this](rocksdb::DB& db) {
        if (opened) static_cast<void>(keep_high_water(db));
    };
    hooks.background_error = [this](const std::string& what, bool for_want_of_space) {
        if (for_want_of_space) return out_of_space(what);
        latch.trip("RocksDB reports a background error: " + what);
    };
    hooks.sync_failed = [this](const std::string& what) {
        latch.trip(what + "; what is on disk is decided at the next start");
    };
    Result<std::unique_ptr<Database>> result = Database::open(paths.db, options, std::move(hooks));
    if (!result) {
        // A failed open removes no log: what was demanded before is demanded again.
        if (Status marked = high_water.write(*before); !marked) return marked;
        return result.error();
    }
    database = std::move(*result);
    const std::uint64_t sequence = database->db().GetLatestSequenceNumber();
    durable_sequence = sequence;
    if (sequence < before->sequence) {
        return Error(ErrorKind::invalid,
                     fmt::format("the store in {} went back: it ends at sequence {}, but {} was committed. Commits "
                                 "that were acknowledged are missing (an older copy of the folder, or a damaged "
                                 "log). Run `opid store verify`, then put back the right folder or restore a backup",
                                 paths.directory, sequence, before->sequence));
    }
    return check_format(fresh);
}

Status RocksStore::Impl::check_format(bool fresh) {
    std::string stored;
    const rocksdb::Status status = database->db().Get(rocksdb::ReadOptions(), database->family(Family::meta),
                                                      slice(format_name), &stored);
    if (status.IsNotFound() && (fresh || database->db().GetLatestSequenceNumber() == 0)) {
        rocksdb::WriteOptions synced;
        synced.sync = true;
        const rocksdb::Status written = database->db().Put(synced, database->family(Family::meta),
                                                           slice(format_name), slice(key_format));
        if (!written.ok()) return open_error(written, paths.db);
        return ok();
    }
    if (!status.ok()) return open_error(status, paths.db);
    if (stored != key_format) {
        return Error(ErrorKind::invalid, fmt::format("the store in {} has key format {}, this opid knows {}: use "
                                                     "the opid that wrote it, or `opid store migrate`",
                                                     paths.directory, stored, key_format));
    }
    return ok();
}

Status RocksStore::Impl::load_scopes() {
    const std::unique_ptr<rocksdb::Iterator> at(
        database->db().NewIterator(rocksdb::ReadOptions(), database->family(Family::meta)));
    for (at->SeekToFirst(); at->Valid(); at->Next()) {
        auto pair = parse_scope_key(view(at->key()));
        if (pair) scopes.add(std::move(*pair));
    }
    if (!at->status().ok()) return open_error(at->status(), paths.db);
    return ok();
}

Status RocksStore::Impl::load_open() {
    rocksdb::ReadOptions read;
    read.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> at(database->db().NewIterator(read, database->family(Family::open)));
    for (at->SeekToFirst(); at->Valid(); at->Next()) {
        const std::optional<OperationKey> key = parse_operation_key(view(at->key()));
        const Result<Operation> operation = decode_operation(view(at->value()));
        if (!key || !operation || operation->key != *key || is_final(operation->status)) {
            return Error(ErrorKind::invalid,
                         fmt::format("an open operation in {} can't be read ({}). Run `opid store verify`",
                                     paths.directory, operation ? "wrong key or status" : operation.error().what()));
        }
        index.put(*key, facts_of(*operation));
    }
    if (!at->status().ok()) return open_error(at->status(), paths.db);
    return ok();
}

void RocksStore::Impl::start_threads() {
    readers = std::make_unique<WorkerPool>("opid-read", reader_threads, reader_queue_max);
    maintenance = std::make_unique<WorkerPool>("opid-maint", 1, maintenance_queue_max);
    committer = std::make_unique<Committer>(
        Committer::Parts{*database, index, scopes, latch, full, durable_sequence,
                         [this] { return keep_high_water(database->db()); }},
        options);
    running = true;
    if (full.tripped()) committer->wake();
}

// Any thread; the committer's own while it writes or heals.
void RocksStore::Impl::out_of_space(const std::string& what) {
    full.trip(fmt::format("the disk of {} is full ({}); commits go on by themselves once there is space",
                          options.directory, what));
    if (running) committer->wake();
}

// The mark demands what was synced, never the database's own last number: a write that failed may have used it up.
Status RocksStore::Impl::keep_high_water(rocksdb::DB& db) {
    HighWater mark;
    mark.sequence = durable_sequence;
    mark.wal_number = current_wal_number(db);
    Status kept = ok();
    if (marked_wal != mark.wal_number) kept = sync_directory(paths.db);
    if (kept) {
        marked_wal = mark.wal_number;
        kept = high_water.write(mark);
    }
    if (kept) return kept;
    // A stale mark would refuse a sound database at the next start.
    if (kept.error().kind() == ErrorKind::overloaded) {
        out_of_space(kept.error().what());
    } else {
        latch.trip(kept.error().what());
    }
    return kept;
}

Status RocksStore::Impl::admit_claim() const {
    const std::uint64_t free_bytes = space.free_bytes();
    if (free_bytes >= options.low_disk_bytes) return ok();
    return Error(ErrorKind::unavailable,
                 fmt::format("the disk of {} is nearly full: {} MiB free, new operations need {} MiB",
                             options.directory, free_bytes / mebibyte, options.low_disk_bytes / mebibyte));
}

Result<std::unique_ptr<RocksStore>> RocksStore::open(RocksOptions options) {
    if (!options.now || options.directory.empty()) {
        return Error(ErrorKind::invalid, "the store needs a directory and a clock");
    }
    auto impl = std::make_unique<Impl>(std::move(options));
    Result<DirectoryLock> lock = DirectoryLock::take(impl->paths, impl->options.node);
    if (!lock) return lock.error();
    impl->lock = std::move(*lock);
    ::chmod(impl->paths.directory.c_str(), 0700);
    static_cast<void>(impl->space.free_bytes());  // the first reading, before there are other threads
    for (const auto step : {&Impl::acknowledge_horizon, &Impl::open_database, &Impl::load_scopes, &Impl::load_open}) {
        if (Status done = (*impl.*step)(); !done) return done.error();
    }
    if (Status kept = impl->keep_high_water(impl->database->db()); !kept) {
        return Error(ErrorKind::unavailable, kept.error().what());
    }
    if (impl->latch.tripped()) return Error(ErrorKind::unavailable, impl->latch.reason());
    impl->opened = true;
    impl->start_threads();
    return std::unique_ptr<RocksStore>(new RocksStore(std::move(impl)));
}

RocksStore::RocksStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RocksStore::~RocksStore() = default;

namespace {

class Listening final : public WaiterFor<Status> {
public:
    Listening(Executor executor, std::shared_ptr<CommitListener> listener)
        : WaiterFor<Status>(std::move(executor)), listener_(std::move(listener)) {}

    void resume(std::unique_ptr<Waiter> self) override {
        const std::shared_ptr<CommitListener> listener = std::move(listener_);
        Status status = std::move(result);
        self.reset();
        listener->committed(std::move(status));
    }

private:
    std::shared_ptr<CommitListener> listener_;
};

void answer(Committer::CommitWaiter waiter, Status status) {
    waiter->result = std::move(status);
    Hops hops;
    hops.add(std::move(waiter));
    hops.post_all();
}

}  // namespace

void RocksStore::begin_commit(const Commit& commit, Executor executor, std::shared_ptr<CommitListener> listener) {
    Committer::CommitWaiter waiter = std::make_unique<Listening>(std::move(executor), std::move(listener));
    Result<PreparedCommit> prepared = prepare_commit(commit, impl_->options.inline_body_bytes_max);
    if (!prepared) return answer(std::move(waiter), prepared.error());
    if (prepared->claim && !impl_->latch.tripped()) {
        Status admitted = impl_->admit_claim();
        if (!admitted) return answer(std::move(waiter), std::move(admitted));
    }
    impl_->committer->submit(std::move(*prepared), std::move(waiter));
}

Task<Result<std::string>> RocksStore::allocate_step(std::string tenant, std::string step, std::string proposed_id) {
    const Status right = check_step(tenant, step, proposed_id);
    if (!right) co_return right.error();
    std::string key = step_key(tenant, step);
    const OperationKey owner = step_owner(tenant, proposed_id);
    rocksdb::ReadOptions cached;
    cached.read_tier = rocksdb::kBlockCacheTier;
    std::string stored;
    // What can be read is durable. Anything else is the committer's to decide.
    const rocksdb::Status status =
        impl_->database->db().Get(cached, impl_->database->family(Family::steps), key, &stored);
    if (status.ok() && !Impl::gave_up(cached, status, stored)) co_return stored;
    const Status admitted = impl_->admit_claim();
    if (!admitted) co_return admitted.error();
    Committer& committer = *impl_->committer;
    Task<Result<std::string>> allocated = wait_for<Result<std::string>>(
        [&committer, owner, key = std::move(key),
         proposed = std::move(proposed_id)](Committer::StepWaiter waiter) mutable {
            committer.submit_step(std::move(key), std::move(proposed), owner, std::move(waiter));
        });
    Result<std::string> id = co_await std::move(allocated);
    co_return id;
}

StoreHealth RocksStore::health() const {
    StoreHealth health;
    health.latched = impl_->latch.tripped();
    health.free_bytes = impl_->space.free_bytes();
    health.commits = impl_->committer->commits();
    health.syncs = impl_->committer->syncs();
    health.open_operations = impl_->index.size();
    const Status room = impl_->admit_claim();
    health.writable = !health.latched && !impl_->full.tripped() && room.has_value();
    if (health.latched) {
        health.reason = impl_->latch.reason();
    } else if (impl_->full.tripped()) {
        health.reason = impl_->full.reason();
    } else if (!room) {
        health.reason = room.error().what();
    } else if (health.free_bytes < impl_->options.warn_disk_bytes) {
        health.reason = fmt::format("warning: {} MiB free on the disk of {}", health.free_bytes / mebibyte,
                                    impl_->options.directory);
    }
    return health;
}

std::optional<Instant> RocksStore::restore_horizon() const { return impl_->horizon; }

}  // namespace opid
