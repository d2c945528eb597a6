// Retention and backup of the open store: long work in bounded steps, on the maintenance thread.
#include <fmt/format.h>

#include <rocksdb/rate_limiter.h>
#include <rocksdb/utilities/backup_engine.h>

#include "adapters/store/rocksdb/rocks_impl.hpp"
#include "core/operation/record_codec.hpp"

namespace opid {
namespace {

constexpr std::size_t step_entries_max = 256;
constexpr int backup_rate = 64 << 20;  // bytes a second: commits come first

Error read_error(const rocksdb::Status& status) {
    return {ErrorKind::unavailable, "the store can't be read: " + status.ToString()};
}

Status staged(const rocksdb::Status& status) {
    if (status.ok()) return ok();
    return Error(ErrorKind::internal, status.ToString());
}

}  // namespace

// by_time (and for an open record the open index) holds everything that retiring needs, so the record itself is not
// read. A final one is never opened again; for an open one see retire_open.
Status RocksStore::Impl::retire_one(rocksdb::WriteBatch& batch, const ListPlace& place, const RecordFacts& facts,
                                    Instant at) {
    const rocksdb::Slice key = slice(bytes_of(place.key));
    const std::string tombstone = encode_tombstone({retired_status(facts.status), facts.created, at});
    const rocksdb::Slice value[2] = {rocksdb::Slice(&tag_tombstone, 1), tombstone};
    rocksdb::Status status = batch.Put(database->family(Family::operations), rocksdb::SliceParts(&key, 1),
                                       rocksdb::SliceParts(value, 2));
    const TimedKey created = timed_key(place.created, place.key);
    const TimedKey retired = timed_key(at, place.key);
    if (status.ok() && is_final(facts.status)) {
        status = batch.Delete(database->family(Family::by_time), slice(view_of(created)));
    } else if (status.ok()) {
        status = batch.Delete(database->family(Family::open), key);
    }
    if (status.ok()) status = batch.Put(database->family(Family::expiry), slice(view_of(retired)), rocksdb::Slice());
    if (status.ok() && facts.request_beside) {
        status = batch.Delete(database->family(Family::bodies), body_key(place.key, BodyPart::request));
    }
    if (status.ok() && facts.response_beside) {
        status = batch.Delete(database->family(Family::bodies), body_key(place.key, BodyPart::response));
    }
    if (!status.ok() || !facts.spilled) return staged(status);
    const std::string last = history_key(place.key, ~std::uint64_t{0});
    const rocksdb::Slice upper(last);
    rocksdb::ReadOptions read;
    read.iterate_upper_bound = &upper;
    const std::unique_ptr<rocksdb::Iterator> chunk(
        database->db().NewIterator(read, database->family(Family::history)));
    for (chunk->Seek(key); chunk->Valid() && status.ok(); chunk->Next()) {
        status = batch.Delete(database->family(Family::history), chunk->key());
    }
    if (!chunk->status().ok()) return read_error(chunk->status());
    return staged(status);
}

Status RocksStore::Impl::retire(Instant records_kept_until, Instant at, SweepResult& result) {
    // A record is never newer than its creation: nothing created after the limit can be old enough.
    const TimedKey limit = timed_key(records_kept_until, OperationKey{});
    const rocksdb::Slice upper = slice(view_of(limit));
    rocksdb::ReadOptions read;
    read.iterate_upper_bound = &upper;
    read.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> entry(
        database->db().NewIterator(read, database->family(Family::by_time)));
    entry->SeekToFirst();
    while (entry->Valid() && !stopping) {
        rocksdb::WriteBatch batch;
        std::uint64_t retired = 0;
        for (std::size_t seen = 0; entry->Valid() && seen < step_entries_max; entry->Next(), ++seen) {
            const std::optional<ListPlace> place = parse_timed_key(view(entry->key()));
            const auto facts = place ? parse_final_facts(place->created, view(entry->value())) : std::nullopt;
            if (!facts) return Error(ErrorKind::invalid, "an entry of by_time can't be read: run `opid store verify`");
            if (!may_retire(*facts, records_kept_until)) continue;
            if (Status done = retire_one(batch, *place, *facts, at); !done) return done;
            ++retired;
        }
        if (retired == 0) continue;
        const auto fill = [&batch](rocksdb::WriteBatch& out, std::vector<OperationKey>&) {
            out = std::move(batch);
            return ok();
        };
        if (Status written = committer->write(fill); !written) return written;
        result.retired += retired;
    }
    if (!entry->status().ok()) return read_error(entry->status());
    return ok();
}

// An open record may be claimed at any moment: only on the committer's thread does its state hold until the write.
Status RocksStore::Impl::retire_open(Instant records_kept_until, Instant at, SweepResult& result) {
    while (!stopping) {
        const std::vector<OperationKey> candidates = index.retirable(records_kept_until, step_entries_max);
        std::uint64_t retired = 0;
        const auto fill = [&](rocksdb::WriteBatch& batch, std::vector<OperationKey>& ended) {
            for (const OperationKey& key : candidates) {
                const RecordFacts* facts = index.find_as_writer(key);
                if (facts == nullptr || !may_retire(*facts, records_kept_until)) continue;
                if (Status done = retire_one(batch, {facts->created, key}, *facts, at); !done) return done;
                ended.push_back(key);
            }
            retired = ended.size();
            return ok();
        };
        if (candidates.empty()) return ok();
        if (Status written = committer->write(fill); !written) return written;
        result.retired += retired;
        if (candidates.size() < step_entries_max || retired == 0) return ok();
    }
    return ok();
}

// One look into the index however many steps there are.
Status RocksStore::Impl::forget_steps(rocksdb::WriteBatch& batch, rocksdb::Iterator& steps, const OperationKey& owner) {
    const std::string_view prefix = bytes_of(owner);
    rocksdb::Status status;
    for (steps.Seek(slice(prefix)); steps.Valid() && status.ok(); steps.Next()) {
        const std::string_view entry = view(steps.key());
        if (!entry.starts_with(prefix)) break;
        if (entry.size() == prefix.size()) continue;  // never: a step key is a digest of other words
        status = batch.Delete(database->family(Family::steps), slice(entry.substr(prefix.size())));
        if (status.ok()) status = batch.Delete(database->family(Family::steps), slice(entry));
    }
    if (!steps.status().ok()) return read_error(steps.status());
    return staged(status);
}

Status RocksStore::Impl::forget(Instant tombstones_kept_until, SweepResult& result) {
    const TimedKey limit = timed_key(tombstones_kept_until, OperationKey{});
    const rocksdb::Slice upper = slice(view_of(limit));
    rocksdb::ReadOptions read;
    read.iterate_upper_bound = &upper;
    read.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> entry(
        database->db().NewIterator(read, database->family(Family::expiry)));
    rocksdb::ReadOptions read_steps;
    read_steps.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> steps(
        database->db().NewIterator(read_steps, database->family(Family::steps)));
    entry->SeekToFirst();
    while (entry->Valid() && !stopping) {
        rocksdb::WriteBatch batch;
        std::uint64_t forgotten = 0;
        for (; entry->Valid() && forgotten < step_entries_max; entry->Next(), ++forgotten) {
            const std::optional<ListPlace> place = parse_timed_key(view(entry->key()));
            if (!place) return Error(ErrorKind::invalid, "an entry of expiry can't be read: run `opid store verify`");
            rocksdb::Status status = batch.Delete(database->family(Family::operations), slice(bytes_of(place->key)));
            if (status.ok()) status = batch.Delete(database->family(Family::expiry), entry->key());
            if (!status.ok()) return staged(status);
            if (Status done = forget_steps(batch, *steps, place->key); !done) return done;
        }
        const auto fill = [&batch](rocksdb::WriteBatch& out, std::vector<OperationKey>&) {
            out = std::move(batch);
            return ok();
        };
        if (Status written = committer->write(fill); !written) return written;
        result.forgotten += forgotten;
    }
    if (!entry->status().ok()) return read_error(entry->status());
    return ok();
}

Result<SweepResult> RocksStore::Impl::sweep(Instant records_kept_until, Instant tombstones_kept_until, Instant at) {
    SweepResult result;
    if (Status done = retire(records_kept_until, at, result); !done) return done.error();
    if (Status done = retire_open(records_kept_until, at, result); !done) return done.error();
    if (Status done = forget(tombstones_kept_until, result); !done) return done.error();
    return result;
}

Result<BackupInfo> RocksStore::Impl::backup(const std::string& target) {
    BackupInfo info;
    info.known_until = now();  // before the copy begins: what was acknowledged until here is in it
    info.sequence = database->db().GetLatestSequenceNumber();
    rocksdb::BackupEngineOptions settings(target);
    settings.backup_rate_limiter.reset(rocksdb::NewGenericRateLimiter(backup_rate));
    settings.share_files_with_checksum = true;
    rocksdb::BackupEngine* raw = nullptr;
    rocksdb::IOStatus status = rocksdb::BackupEngine::Open(settings, rocksdb::Env::Default(), &raw);
    if (!status.ok()) return Error(ErrorKind::unavailable, "backup in " + target + ": " + status.ToString());
    const std::unique_ptr<rocksdb::BackupEngine> engine(raw);
    rocksdb::CreateBackupOptions how;
    how.flush_before_backup = true;
    rocksdb::BackupID id = 0;
    const std::string horizon_text = fmt::format("opid-backup-1 {} {}", to_unix_ms(info.known_until), info.sequence);
    status = engine->CreateNewBackupWithMetadata(how, &database->db(), horizon_text, &id);
    if (!status.ok()) return Error(ErrorKind::unavailable, "backup to " + target + ": " + status.ToString());
    rocksdb::BackupInfo made;
    const rocksdb::Status described = engine->GetBackupInfo(id, &made);
    if (!described.ok()) return Error(ErrorKind::unavailable, "backup in " + target + ": " + described.ToString());
    info.id = id;
    info.bytes = made.size;
    return info;
}

Task<Result<SweepResult>> RocksStore::sweep(Instant records_kept_until, Instant tombstones_kept_until, Instant now) {
    Impl& impl = *impl_;
    Task<Result<SweepResult>> work = offload<Result<SweepResult>>(
        *impl.maintenance, [&impl, records_kept_until, tombstones_kept_until, now] {
            return impl.sweep(records_kept_until, tombstones_kept_until, now);
        });
    Result<SweepResult> result = co_await std::move(work);
    co_return result;
}

Task<Status> RocksStore::remember(std::string fact) {
    const Status right = check_fact(fact);
    if (!right) co_return right.error();
    Impl& impl = *impl_;
    Task<Status> work = offload<Status>(*impl.maintenance, [&impl, fact = std::move(fact)] {
        return impl.committer->write([&impl, &fact](rocksdb::WriteBatch& batch, std::vector<OperationKey>&) {
            return staged(batch.Put(impl.database->family(Family::meta), fact_key(fact), rocksdb::Slice()));
        });
    });
    Status status = co_await std::move(work);
    co_return status;
}

Task<Result<std::vector<std::string>>> RocksStore::remembered() {
    using Facts = Result<std::vector<std::string>>;
    Impl& impl = *impl_;
    Task<Facts> work = offload<Facts>(*impl.readers, [&impl]() -> Facts {
        std::vector<std::string> facts;
        const std::unique_ptr<rocksdb::Iterator> at(
            impl.database->db().NewIterator(rocksdb::ReadOptions(), impl.database->family(Family::meta)));
        for (at->Seek(fact_key("")); at->Valid(); at->Next()) {
            const std::optional<std::string_view> fact = parse_fact_key(view(at->key()));
            if (!fact) break;
            facts.emplace_back(*fact);
        }
        if (!at->status().ok()) return read_error(at->status());
        return facts;
    });
    Facts facts = co_await std::move(work);
    co_return facts;
}

Task<Result<BackupInfo>> RocksStore::backup(std::string target) {
    Impl& impl = *impl_;
    Task<Result<BackupInfo>> work = offload<Result<BackupInfo>>(
        *impl.maintenance, [&impl, target = std::move(target)] { return impl.backup(target); });
    Result<BackupInfo> info = co_await std::move(work);
    co_return info;
}

}  // namespace opid
