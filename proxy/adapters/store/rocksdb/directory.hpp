#pragma once
// The store's directory: its lock, the paths in it, and the horizon that a restore leaves behind.
#include <optional>
#include <string>

#include "adapters/store/rocksdb/high_water.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace opid {

struct StorePaths {
    explicit StorePaths(const std::string& directory);
    std::string directory;
    std::string db;
    std::string lock;
    std::string high_water;
    std::string horizon;           // a restore that nobody has acknowledged yet
    std::string horizon_accepted;
};

bool file_exists(const std::string& path);
bool database_exists(const StorePaths& paths);
bool wal_exists(const StorePaths& paths, std::uint64_t number);

// Exclusive among processes, and among opens in one process.
class DirectoryLock {
public:
    // unavailable: in use; the error says by whom where that is known.
    static Result<DirectoryLock> take(const StorePaths& paths, const std::string& node = {});
    DirectoryLock() = default;
    ~DirectoryLock();
    DirectoryLock(DirectoryLock&& other) noexcept;
    DirectoryLock& operator=(DirectoryLock&& other) noexcept;

private:
    int file_ = -1;
};

// nullopt: never restored.
Result<std::optional<Instant>> read_horizon(const std::string& path);
Status write_horizon(const std::string& path, Instant known_until);

std::string utc_text(Instant at);  // "2026-11-30 12:00:00 UTC"

// Whether the directory holds everything that was committed before, as far as that can be told without opening
// the database. A fresh directory gives an empty mark.
Result<HighWater> check_high_water(const StorePaths& paths, const HighWaterFile& file, bool accept_missing);

}  // namespace opid
