#pragma once
// The high-water file: what of the database must still be there at the next start. RocksDB itself opens without
// a word when its live write-ahead log was deleted (or an older copy of the folder was put back), and a lost
// claim means that an action runs twice.
//
// Two slots of one block each, written in turn and synced: a torn write leaves the other slot, and a full disk
// can't stop an overwrite. Written with plain system calls, beside the database and not through it.
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.hpp"

namespace opid {

struct HighWater {
    std::uint64_t sequence = 0;   // at least this much was committed
    std::uint64_t wal_number = 0;  // this log file must exist; 0: none is demanded
    // The database is being opened, which replaces logs: only the sequence is demanded.
    bool opening = false;
    friend bool operator==(const HighWater&, const HighWater&) = default;
};

class HighWaterFile {
public:
    explicit HighWaterFile(std::string path) : path_(std::move(path)) {}
    ~HighWaterFile();
    HighWaterFile(const HighWaterFile&) = delete;
    HighWaterFile& operator=(const HighWaterFile&) = delete;

    // not_found: no such file. invalid: neither slot is readable.
    Result<HighWater> read() const;

    // Durable when it returns success. Creates the file. Any thread. overloaded: there was no space; the older mark
    // is still there, and a later write may well succeed.
    Status write(const HighWater& mark);

private:
    Status open_for_writing();

    std::string path_;
    std::mutex mutex_;
    int file_ = -1;
    std::uint64_t generation_ = 0;
};

Status sync_directory(const std::string& directory);

}  // namespace opid
