#pragma once
// A file system that loses power. What is written goes to the real files at once, so that it can be read back, but
// for every file the last synced length is known; cut() takes back what was not synced, whole or in part, and from
// then on everything fails. Names (create, rename, delete) count as durable at once.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

namespace opid::test {

enum class Loss : std::uint8_t {
    whole,  // nothing of what was not synced is left
    part,   // a random number of its bytes is
    zeros,  // the same, and the file keeps its length: the rest reads as zero
};

class PowerLossFs final : public rocksdb::FileSystemWrapper {
public:
    explicit PowerLossFs(std::uint64_t seed);
    const char* Name() const override { return "PowerLossFs"; }

    void cut(Loss loss);
    bool is_cut() const;

    // Called before every sync of a file whose name ends in .log, on the thread that syncs. An error is what the sync
    // returns; nothing is synced then.
    std::function<rocksdb::IOStatus(unsigned n)> before_log_sync;

    rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                      std::unique_ptr<rocksdb::FSWritableFile>* result,
                                      rocksdb::IODebugContext* debug) override;
    rocksdb::IOStatus ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                         std::unique_ptr<rocksdb::FSWritableFile>* result,
                                         rocksdb::IODebugContext* debug) override;
    rocksdb::IOStatus ReuseWritableFile(const std::string& name, const std::string& old_name,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSWritableFile>* result,
                                        rocksdb::IODebugContext* debug) override;
    rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to, const rocksdb::IOOptions& options,
                                 rocksdb::IODebugContext* debug) override;
    rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                                 rocksdb::IODebugContext* debug) override;

private:
    class File;
    struct Track {
        std::uint64_t written = 0;
        std::uint64_t synced = 0;
    };
    rocksdb::IOStatus sync(const std::string& name, const std::function<rocksdb::IOStatus()>& really);
    std::uint64_t random_below(std::uint64_t bound);

    mutable std::mutex mutex_;
    std::map<std::string, std::shared_ptr<Track>> tracks_;
    std::uint64_t random_;
    unsigned log_syncs_ = 0;
    bool cut_ = false;
};

}  // namespace opid::test
