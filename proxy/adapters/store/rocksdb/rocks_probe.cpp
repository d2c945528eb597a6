#include "adapters/store/rocksdb/rocks_probe.hpp"

#include "adapters/store/rocksdb/rocks_impl.hpp"
#include "core/operation/record_codec.hpp"

namespace opid {

Status RocksStoreProbe::fill(RocksStore& store, const std::vector<Operation>& operations) {
    Database& database = *store.impl_->database;
    rocksdb::WriteBatch batch;
    for (const Operation& operation : operations) {
        const rocksdb::Slice key = slice(bytes_of(operation.key));
        const std::string record = encode_operation(operation);
        const rocksdb::Slice value[2] = {rocksdb::Slice(&tag_record, 1), record};
        const TimedKey place = timed_key(operation.created, operation.key);
        const FinalFacts facts = final_facts(facts_of(operation));
        rocksdb::Status status = batch.Put(database.family(Family::operations), rocksdb::SliceParts(&key, 1),
                                           rocksdb::SliceParts(value, 2));
        if (status.ok()) {
            status = batch.Put(database.family(Family::by_time), slice(view_of(place)), slice(view_of(facts)));
        }
        if (!status.ok()) return Error(ErrorKind::internal, status.ToString());
    }
    rocksdb::WriteOptions unsynced;
    unsynced.disableWAL = true;
    const rocksdb::Status written = database.db().Write(unsynced, &batch);
    if (!written.ok()) return Error(ErrorKind::unavailable, written.ToString());
    return ok();
}

Status RocksStoreProbe::flush(RocksStore& store) {
    Database& database = *store.impl_->database;
    for (std::size_t i = 0; i < family_count; ++i) {
        const rocksdb::Status flushed =
            database.db().Flush(rocksdb::FlushOptions(), database.family(static_cast<Family>(i)));
        if (!flushed.ok()) return Error(ErrorKind::unavailable, flushed.ToString());
    }
    return store.impl_->keep_high_water(database.db());
}

Status RocksStoreProbe::break_open_record(RocksStore& store, const OperationKey& key) {
    Database& database = *store.impl_->database;
    rocksdb::WriteOptions synced;
    synced.sync = true;
    const rocksdb::Status written =
        database.db().Put(synced, database.family(Family::open), slice(bytes_of(key)), "nonsense");
    if (!written.ok()) return Error(ErrorKind::unavailable, written.ToString());
    return ok();
}

std::uint64_t RocksStoreProbe::stored_bytes(const RocksStore& store, const OperationKey& key) {
    Database& database = *store.impl_->database;
    std::string value;
    const rocksdb::Status status = database.db().Get(rocksdb::ReadOptions(), database.family(Family::operations),
                                                     slice(bytes_of(key)), &value);
    return status.ok() ? value.size() : 0;
}

}  // namespace opid
