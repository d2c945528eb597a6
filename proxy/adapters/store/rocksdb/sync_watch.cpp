#include "adapters/store/rocksdb/sync_watch.hpp"

#include <string_view>

namespace opid {
namespace {

// Tables are made anew when their sync fails; only these two can't be.
bool is_irreplaceable(std::string_view name) {
    const std::string_view base = name.substr(name.rfind('/') + 1);
    const bool log = base.size() > 4 && base.substr(base.size() - 4) == ".log";
    return log || base.substr(0, 9) == "MANIFEST-";
}

}  // namespace

class SyncWatch::File final : public rocksdb::FSWritableFileOwnerWrapper {
public:
    File(const SyncWatch& watch, std::string name, std::unique_ptr<rocksdb::FSWritableFile> file)
        : FSWritableFileOwnerWrapper(std::move(file)), watch_(watch), name_(std::move(name)) {}

    rocksdb::IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
        return watch_.seen(target()->Sync(options, debug), name_);
    }
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
        return watch_.seen(target()->Fsync(options, debug), name_);
    }

private:
    const SyncWatch& watch_;
    std::string name_;
};

class SyncWatch::Directory final : public rocksdb::FSDirectoryWrapper {
public:
    Directory(const SyncWatch& watch, std::string name, std::unique_ptr<rocksdb::FSDirectory> directory)
        : FSDirectoryWrapper(std::move(directory)), watch_(watch), name_(std::move(name)) {}

    rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
        return watch_.seen(FSDirectoryWrapper::Fsync(options, debug), name_);
    }
    rocksdb::IOStatus FsyncWithDirOptions(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug,
                                          const rocksdb::DirFsyncOptions& how) override {
        return watch_.seen(FSDirectoryWrapper::FsyncWithDirOptions(options, debug, how), name_);
    }

private:
    const SyncWatch& watch_;
    std::string name_;
};

SyncWatch::SyncWatch(const std::shared_ptr<rocksdb::FileSystem>& target,
                     std::function<void(const std::string&)> failed)
    : FileSystemWrapper(target), failed_(std::move(failed)) {}

rocksdb::IOStatus SyncWatch::seen(rocksdb::IOStatus status, const std::string& name) const {
    if (!status.ok()) failed_("a sync of " + name + " failed: " + status.ToString());
    return status;
}

void SyncWatch::watch(const std::string& name, std::unique_ptr<rocksdb::FSWritableFile>* file) {
    if (is_irreplaceable(name)) *file = std::make_unique<File>(*this, name, std::move(*file));
}

rocksdb::IOStatus SyncWatch::NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                             std::unique_ptr<rocksdb::FSWritableFile>* result,
                                             rocksdb::IODebugContext* debug) {
    rocksdb::IOStatus status = target()->NewWritableFile(name, options, result, debug);
    if (status.ok()) watch(name, result);
    return status;
}

rocksdb::IOStatus SyncWatch::ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                                std::unique_ptr<rocksdb::FSWritableFile>* result,
                                                rocksdb::IODebugContext* debug) {
    rocksdb::IOStatus status = target()->ReopenWritableFile(name, options, result, debug);
    if (status.ok()) watch(name, result);
    return status;
}

rocksdb::IOStatus SyncWatch::ReuseWritableFile(const std::string& name, const std::string& old_name,
                                               const rocksdb::FileOptions& options,
                                               std::unique_ptr<rocksdb::FSWritableFile>* result,
                                               rocksdb::IODebugContext* debug) {
    rocksdb::IOStatus status = target()->ReuseWritableFile(name, old_name, options, result, debug);
    if (status.ok()) watch(name, result);
    return status;
}

rocksdb::IOStatus SyncWatch::NewDirectory(const std::string& name, const rocksdb::IOOptions& options,
                                          std::unique_ptr<rocksdb::FSDirectory>* result,
                                          rocksdb::IODebugContext* debug) {
    rocksdb::IOStatus status = target()->NewDirectory(name, options, result, debug);
    if (status.ok()) *result = std::make_unique<Directory>(*this, name, std::move(*result));
    return status;
}

}  // namespace opid
