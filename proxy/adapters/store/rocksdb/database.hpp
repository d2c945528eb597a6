#pragma once
// RocksDB as this store uses it: families, options, and what it tells us about itself. Internal to the adapter.
#include <array>
#include <functional>
#include <memory>
#include <string>

#include <rocksdb/db.h>
#include <rocksdb/listener.h>

#include "adapters/store/rocksdb/key_layout.hpp"
#include "adapters/store/rocksdb/rocks_store.hpp"

namespace opid {

class Database {
public:
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    rocksdb::DB& db() { return *db_; }
    rocksdb::ColumnFamilyHandle* family(Family which) { return families_[static_cast<std::size_t>(which)]; }

    struct Hooks {
        // On a background thread, before a flush is installed, that is before any log becomes obsolete.
        std::function<void(rocksdb::DB&)> before_flush;
        // The database takes no writes any more. for_want_of_space: it will, once there is space and it was resumed.
        std::function<void(const std::string& what, bool for_want_of_space)> background_error;
        std::function<void(const std::string& what)> sync_failed;  // see SyncWatch; comes before any error
    };
    static Result<std::unique_ptr<Database>> open(const std::string& path, const RocksOptions& options, Hooks hooks);
    static Result<std::unique_ptr<Database>> open_read_only(const std::string& path);

    // Waits for background work and closes; the destructor does it too.
    void close();

private:
    Database() = default;
    std::shared_ptr<rocksdb::EventListener> listener_;
    std::unique_ptr<rocksdb::Env> env_;
    std::array<rocksdb::ColumnFamilyHandle*, family_count> families_{};
    std::unique_ptr<rocksdb::DB> db_;
};

std::uint64_t current_wal_number(rocksdb::DB& db);

inline rocksdb::Slice slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }
inline std::string_view view(const rocksdb::Slice& bytes) { return {bytes.data(), bytes.size()}; }

// The error for a failed open: lock held, damage, or else.
Error open_error(const rocksdb::Status& status, const std::string& path);

}  // namespace opid
