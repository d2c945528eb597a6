#include "adapters/store/rocksdb/database.hpp"

#include <fmt/format.h>

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/rate_limiter.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/table_properties_collectors.h>

#include "adapters/store/rocksdb/info_log.hpp"
#include "adapters/store/rocksdb/sync_watch.hpp"

namespace opid {
namespace {

constexpr std::uint64_t info_log_bytes_max = 4 << 20;

class Listener final : public rocksdb::EventListener {
public:
    explicit Listener(Database::Hooks hooks) : hooks_(std::move(hooks)) {}

    void OnFlushBegin(rocksdb::DB* db, const rocksdb::FlushJobInfo&) override { hooks_.before_flush(*db); }
    void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* error) override {
        hooks_.background_error(error->ToString(), error->IsNoSpace());
    }
    // Nothing resumes behind our back: after a failed sync only the disk, read anew, knows what it holds, and after
    // a full disk it is the committer that resumes, between two rounds.
    void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason, rocksdb::Status, bool* auto_recovery) override {
        *auto_recovery = false;
    }

private:
    Database::Hooks hooks_;
};

rocksdb::DBOptions database_options(const RocksOptions& options, const std::string& log) {
    rocksdb::DBOptions db;
    if (options.env != nullptr) db.env = options.env;
    db.info_log = std::make_shared<InfoLog>(log, info_log_bytes_max);
    db.create_if_missing = true;
    db.create_missing_column_families = true;
    db.paranoid_checks = true;
    // The default mode opened with half of the synced records after one flipped bit in the log.
    db.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
    db.track_and_verify_wals_in_manifest = true;
    db.max_bgerror_resume_count = 0;
    db.avoid_flush_during_recovery = false;
    db.max_total_wal_size = options.wal_bytes_max;
    db.db_write_buffer_size = options.write_buffer_bytes;
    db.allow_concurrent_memtable_write = false;  // one writer
    db.enable_write_thread_adaptive_yield = false;
    db.max_background_jobs = 2;
    db.max_open_files = options.open_files_max;
    db.bytes_per_sync = 1 << 20;
    // Flushes and compactions leave the disk to the commits.
    db.rate_limiter.reset(rocksdb::NewGenericRateLimiter(128 << 20));
    db.stats_dump_period_sec = 0;
    db.stats_persist_period_sec = 0;
    return db;
}

rocksdb::ColumnFamilyOptions base_family(const std::shared_ptr<rocksdb::Cache>& cache, bool bloom) {
    rocksdb::BlockBasedTableOptions table;
    table.block_cache = cache;
    table.cache_index_and_filter_blocks = true;
    table.pin_l0_filter_and_index_blocks_in_cache = true;
    table.format_version = 5;
    if (bloom) table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
    table.whole_key_filtering = true;
    rocksdb::ColumnFamilyOptions family;
    family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    family.compression = rocksdb::CompressionType::kLZ4Compression;
    family.level_compaction_dynamic_level_bytes = true;
    family.write_buffer_size = 8 << 20;
    return family;
}

rocksdb::ColumnFamilyOptions family_options(Family which, const std::shared_ptr<rocksdb::Cache>& cache) {
    const bool looked_up = which == Family::operations || which == Family::open || which == Family::steps;
    rocksdb::ColumnFamilyOptions family = base_family(cache, looked_up);
    switch (which) {
        case Family::operations:
            family.write_buffer_size = 32 << 20;
            family.memtable_whole_key_filtering = true;
            family.memtable_prefix_bloom_size_ratio = 0.05;
            break;
        case Family::open:
        case Family::by_time:
            // Entries come and go: what is left of them must not slow down a start or a sweep.
            family.table_properties_collector_factories.push_back(
                rocksdb::NewCompactOnDeletionCollectorFactory(8192, 4096));
            break;
        case Family::bodies:
            family.write_buffer_size = 16 << 20;
            family.enable_blob_files = true;
            family.min_blob_size = 4096;
            family.blob_compression_type = rocksdb::CompressionType::kLZ4Compression;
            family.enable_blob_garbage_collection = true;
            break;
        case Family::meta:
        case Family::expiry:
        case Family::history:
        case Family::steps: break;
    }
    return family;
}

std::vector<rocksdb::ColumnFamilyDescriptor> descriptors(const std::shared_ptr<rocksdb::Cache>& cache) {
    std::vector<rocksdb::ColumnFamilyDescriptor> out;
    for (std::size_t i = 0; i < family_count; ++i) {
        out.emplace_back(std::string(family_names[i]), family_options(static_cast<Family>(i), cache));
    }
    return out;
}

}  // namespace

Error open_error(const rocksdb::Status& status, const std::string& path) {
    const std::string what = status.ToString();
    if (what.find("lock") != std::string::npos || what.find("LOCK") != std::string::npos) {
        return {ErrorKind::unavailable, fmt::format("{} is in use by another process ({})", path, what)};
    }
    return {status.IsCorruption() ? ErrorKind::invalid : ErrorKind::unavailable,
            fmt::format("can't open the store in {}: {}. Nothing was changed. Run `opid store verify` to see what "
                        "is damaged; a backup is put back with `opid store restore`",
                        path, what)};
}

std::uint64_t current_wal_number(rocksdb::DB& db) {
    std::unique_ptr<rocksdb::LogFile> file;
    if (!db.GetCurrentWalFile(&file).ok() || !file) return 0;
    return file->LogNumber();
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path, const RocksOptions& options, Hooks hooks) {
    std::unique_ptr<Database> out(new Database);
    rocksdb::DBOptions db_options = database_options(options, path + ".log");
    out->env_ = rocksdb::NewCompositeEnv(
        std::make_shared<SyncWatch>(db_options.env->GetFileSystem(), hooks.sync_failed));
    db_options.env = out->env_.get();
    out->listener_ = std::make_shared<Listener>(std::move(hooks));
    db_options.listeners.push_back(out->listener_);
    const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(options.block_cache_bytes);
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* db = nullptr;
    const rocksdb::Status status = rocksdb::DB::Open(db_options, path, descriptors(cache), &handles, &db);
    if (!status.ok()) return open_error(status, path);
    out->db_.reset(db);
    std::copy(handles.begin(), handles.end(), out->families_.begin());
    return out;
}

Result<std::unique_ptr<Database>> Database::open_read_only(const std::string& path) {
    std::unique_ptr<Database> out(new Database);
    rocksdb::DBOptions db_options = database_options(RocksOptions{}, "");
    db_options.create_if_missing = false;
    db_options.create_missing_column_families = false;
    const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(64 << 20);
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* db = nullptr;
    const rocksdb::Status status =
        rocksdb::DB::OpenForReadOnly(db_options, path, descriptors(cache), &handles, &db);
    if (!status.ok()) return open_error(status, path);
    out->db_.reset(db);
    std::copy(handles.begin(), handles.end(), out->families_.begin());
    return out;
}

void Database::close() {
    if (!db_) return;
    for (rocksdb::ColumnFamilyHandle* handle : families_) {
        if (handle != nullptr) static_cast<void>(db_->DestroyColumnFamilyHandle(handle));
    }
    families_ = {};
    static_cast<void>(db_->Close());  // what is not flushed is in the log
    db_.reset();
}

Database::~Database() { close(); }

}  // namespace opid
