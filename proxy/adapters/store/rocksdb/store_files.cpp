#include "adapters/store/rocksdb/store_files.hpp"

#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include <rocksdb/utilities/backup_engine.h>

#include "adapters/store/rocksdb/directory.hpp"

namespace opid {
namespace {

Error backup_error(const std::string& backup, const rocksdb::Status& status) {
    return {ErrorKind::unavailable, fmt::format("the backup in {} can't be used: {}", backup, status.ToString())};
}

Result<BackupInfo> describe(const rocksdb::BackupInfo& raw) {
    long long ms = 0;
    unsigned long long sequence = 0;
    if (std::sscanf(raw.app_metadata.c_str(), "opid-backup-1 %lld %llu", &ms, &sequence) != 2) {
        return Error(ErrorKind::invalid, fmt::format("backup {} was not made by opid", raw.backup_id));
    }
    BackupInfo info;
    info.id = raw.backup_id;
    info.known_until = from_unix_ms(ms);
    info.sequence = sequence;
    info.bytes = raw.size;
    return info;
}

Status move_old_database(const StorePaths& paths) {
    const std::string kept = paths.directory + "/db.before-restore";
    std::error_code failed;
    std::filesystem::remove_all(kept, failed);
    if (!failed) std::filesystem::rename(paths.db, kept, failed);
    if (!failed) return ok();
    return Error(ErrorKind::unavailable, fmt::format("can't move {} aside: {}", paths.db, failed.message()));
}

}  // namespace

Result<BackupInfo> restore_store(const std::string& backup, const std::string& directory, bool force) {
    const StorePaths paths(directory);
    const Result<DirectoryLock> lock = DirectoryLock::take(paths);
    if (!lock) return lock.error();
    if (file_exists(paths.db) && !force) {
        return Error(ErrorKind::conflict,
                     fmt::format("{} holds a database already; a restore replaces it only when forced", directory));
    }
    rocksdb::BackupEngineReadOnly* raw = nullptr;
    const rocksdb::IOStatus opened = rocksdb::BackupEngineReadOnly::Open(
        rocksdb::Env::Default(), rocksdb::BackupEngineOptions(backup), &raw);
    if (!opened.ok()) return backup_error(backup, opened);
    const std::unique_ptr<rocksdb::BackupEngineReadOnly> engine(raw);
    rocksdb::BackupInfo latest;
    const rocksdb::Status found = engine->GetLatestBackupInfo(&latest);
    if (!found.ok()) return backup_error(backup, found);
    const Result<BackupInfo> info = describe(latest);
    if (!info) return info.error();
    const rocksdb::IOStatus sound = engine->VerifyBackup(latest.backup_id, true);
    if (!sound.ok()) return backup_error(backup, sound);

    // The horizon first: whatever happens from here on, the next start asks.
    if (Status written = write_horizon(paths.horizon, info->known_until); !written) return written.error();
    const std::string fresh = paths.directory + "/db.restoring";
    std::error_code failed;
    std::filesystem::remove_all(fresh, failed);
    const rocksdb::IOStatus restored = engine->RestoreDBFromBackup(latest.backup_id, fresh, fresh);
    if (!restored.ok()) return backup_error(backup, restored);
    if (file_exists(paths.db)) {
        if (Status moved = move_old_database(paths); !moved) return moved.error();
    }
    HighWaterFile high_water(paths.high_water);
    const HighWater mark{info->sequence, 0, true};
    if (Status written = high_water.write(mark); !written) return written.error();
    std::filesystem::rename(fresh, paths.db, failed);
    if (failed) {
        return Error(ErrorKind::unavailable, fmt::format("can't rename {}: {}", fresh, failed.message()));
    }
    if (Status synced = sync_directory(paths.directory); !synced) return synced.error();
    return *info;
}

}  // namespace opid
