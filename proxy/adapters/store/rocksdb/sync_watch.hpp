#pragma once
// A file system that tells when a sync failed whose loss can't be made good: of a log, of the manifest, or of a
// directory. RocksDB reports such a failure with the same status as a failed append, yet after an append that found
// no space the record is certainly not whole in the log, and after a failed sync nobody knows.
#include <functional>
#include <memory>
#include <string>

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

namespace opid {

class SyncWatch final : public rocksdb::FileSystemWrapper {
public:
    // failed: called on the thread that synced, before RocksDB sees the error.
    SyncWatch(const std::shared_ptr<rocksdb::FileSystem>& target, std::function<void(const std::string& what)> failed);
    const char* Name() const override { return "SyncWatch"; }

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
    rocksdb::IOStatus NewDirectory(const std::string& name, const rocksdb::IOOptions& options,
                                   std::unique_ptr<rocksdb::FSDirectory>* result,
                                   rocksdb::IODebugContext* debug) override;

private:
    class File;
    class Directory;
    void watch(const std::string& name, std::unique_ptr<rocksdb::FSWritableFile>* file);
    rocksdb::IOStatus seen(rocksdb::IOStatus status, const std::string& name) const;

    std::function<void(const std::string&)> failed_;
};

}  // namespace opid
