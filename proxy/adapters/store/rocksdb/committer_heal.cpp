// How the store leaves a full disk behind, on the committer's thread: between two rounds nothing else writes.
//
// A record whose append found no space is not whole in the log, so a start after a crash drops it; RocksDB has not
// taken it into memory either, and Resume() goes on in a new log. Its commit was answered as indeterminate, and what
// the database says about it is read anew before anything else is written.
#include <algorithm>

#include <fmt/format.h>

#include "adapters/store/rocksdb/committer.hpp"
#include "adapters/store/rocksdb/worker_pool.hpp"
#include "core/operation/record_codec.hpp"

namespace opid {
namespace {

constexpr std::size_t probe_bytes = 256 * 1024;
constexpr int heal_pause_growth_max = 10;
constexpr std::string_view heal_name = "healed";  // never stored, only deleted

}  // namespace

void Committer::write_failed(const rocksdb::Status& status) {
    // The database's last number may be that of the failed write: no mark until a later write is synced.
    high_water_stale_ = false;
    if (parts_.latch.tripped()) return;
    if (status.IsNoSpace()) {
        parts_.full.trip(fmt::format("the disk of {} is full ({}); commits go on by themselves once there is space",
                                     options_.directory, status.ToString()));
        return;
    }
    parts_.latch.trip(fmt::format("a write failed ({}); whether it is on disk is decided at the next start",
                                  status.ToString()));
}

void Committer::heal_if_due() {
    const bool full = parts_.full.tripped();
    if (full && !healing_) {
        heal_pause_ = options_.heal_interval;
        heal_due_ = monotonic_now() + heal_pause_;
    }
    healing_ = full;
    if (!full || parts_.latch.tripped() || monotonic_now() < heal_due_) return;
    const bool room = there_is_room();
    if (room && heal()) {
        parts_.full.lift();
        healing_ = false;
        return;
    }
    // A look costs next to nothing, a recovery that fails half-way does.
    heal_pause_ = room ? std::min(2 * heal_pause_, heal_pause_growth_max * options_.heal_interval)
                       : options_.heal_interval;
    heal_due_ = monotonic_now() + heal_pause_;
}

// The error of a step that only space can help. Whatever else goes wrong here needs a start from the disk.
Status Committer::no_space_yet(const rocksdb::Status& status, std::string_view what) {
    const std::string text = fmt::format("{} after the disk was full: {}", what, status.ToString());
    if (!status.IsNoSpace() && !status.IsBusy()) parts_.latch.trip(text);
    return Error(ErrorKind::unavailable, text);
}

bool Committer::there_is_room() {
    rocksdb::Env* env = parts_.database.db().GetEnv();
    const std::string probe = options_.directory + "/probe";
    const rocksdb::Status written = rocksdb::WriteStringToFile(env, std::string(probe_bytes, 'p'), probe, true);
    static_cast<void>(env->DeleteFile(probe));
    return written.ok();
}

Status Committer::heal() {
    rocksdb::DB& db = parts_.database.db();
    if (const rocksdb::Status resumed = db.Resume(); !resumed.ok()) return no_space_yet(resumed, "can't resume");
    // A write of our own, so that the log's last number is past that of any write which failed.
    rocksdb::WriteOptions synced;
    synced.sync = true;
    const rocksdb::Status written =
        db.Delete(synced, parts_.database.family(Family::meta), slice(heal_name));
    if (!written.ok()) return no_space_yet(written, "can't write");
    if (Status open = parts_.latch.tripped() ? writable() : ok(); !open) return open;
    parts_.durable_sequence.store(db.GetLatestSequenceNumber(), std::memory_order_release);
    for (const OperationKey& key : doubtful_) {
        if (Status read = reread(key); !read) return read;
    }
    doubtful_.clear();
    return parts_.keep_high_water();
}

// Makes the open index say what the database says.
Status Committer::reread(const OperationKey& key) {
    rocksdb::PinnableSlice value;
    const rocksdb::Status status = parts_.database.db().Get(
        rocksdb::ReadOptions(), parts_.database.family(Family::open), slice(bytes_of(key)), &value);
    if (status.IsNotFound()) {
        parts_.index.erase(key);
        return ok();
    }
    if (!status.ok()) return no_space_yet(status, "can't read");
    const Result<Operation> operation = decode_operation(view(value));
    if (!operation) {
        parts_.latch.trip("an open operation can't be read: " + operation.error().what());
        return operation.error();
    }
    parts_.index.put(key, facts_of(*operation));
    return ok();
}

}  // namespace opid
