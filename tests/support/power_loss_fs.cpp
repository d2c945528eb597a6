#include "power_loss_fs.hpp"

#include <filesystem>

namespace opid::test {
namespace {

rocksdb::IOStatus no_power() { return rocksdb::IOStatus::IOError("the power is out"); }

}  // namespace

// Appends go through; only their durability is tracked.
class PowerLossFs::File final : public rocksdb::FSWritableFileOwnerWrapper {
public:
    File(PowerLossFs& fs, std::string name, std::unique_ptr<rocksdb::FSWritableFile> file, std::shared_ptr<Track> track)
        : FSWritableFileOwnerWrapper(std::move(file)),
          fs_(fs),
          name_(std::move(name)),
          track_(std::move(track)) {}

    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             rocksdb::IODebugContext* debug) override {
        const std::lock_guard lock(fs_.mutex_);
        if (fs_.cut_) return no_power();
        track_->written += data.size();
        return target()->Append(data, options, debug);
    }
    rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                             const rocksdb::DataVerificationInfo&, rocksdb::IODebugContext* debug) override {
        return Append(data, options, debug);
    }
    rocksdb::IOStatus Truncate(std::uint64_t size, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override {
        const std::lock_guard lock(fs_.mutex_);
        if (fs_.cut_) return no_power();
        track_->written = size;
        track_->synced = std::min(track_->synced, size);
        return target()->Truncate(size, options, debug);
    }
    rocksdb::IOStatus Sync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
        return synced([&] { return target()->Sync(options, debug); });
    }
    rocksdb::IOStatus Fsync(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
        return synced([&] { return target()->Fsync(options, debug); });
    }
    // The real file may round its length up while it is open; cut() needs the lengths as they are.
    rocksdb::IOStatus Allocate(std::uint64_t, std::uint64_t, const rocksdb::IOOptions&,
                               rocksdb::IODebugContext*) override {
        return rocksdb::IOStatus::OK();
    }
    void PrepareWrite(std::size_t, std::size_t, const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {}
    rocksdb::IOStatus Close(const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) override {
        if (fs_.is_cut()) return no_power();
        return target()->Close(options, debug);
    }

private:
    template <class Really>
    rocksdb::IOStatus synced(Really really) {
        std::uint64_t length = 0;
        {
            const std::lock_guard lock(fs_.mutex_);
            length = track_->written;
        }
        const rocksdb::IOStatus status = fs_.sync(name_, really);
        const std::lock_guard lock(fs_.mutex_);
        if (status.ok() && !fs_.cut_) track_->synced = length;
        return status;
    }

    PowerLossFs& fs_;
    std::string name_;
    std::shared_ptr<Track> track_;
};

PowerLossFs::PowerLossFs(std::uint64_t seed)
    : FileSystemWrapper(rocksdb::FileSystem::Default()),
      random_(seed * 2 + 1) {}

bool PowerLossFs::is_cut() const {
    const std::lock_guard lock(mutex_);
    return cut_;
}

std::uint64_t PowerLossFs::random_below(std::uint64_t bound) {
    random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return bound == 0 ? 0 : (random_ >> 33) % bound;
}

rocksdb::IOStatus PowerLossFs::sync(const std::string& name, const std::function<rocksdb::IOStatus()>& really) {
    const bool log = name.size() > 4 && name.compare(name.size() - 4, 4, ".log") == 0;
    if (log && before_log_sync) {
        unsigned n = 0;
        {
            const std::lock_guard lock(mutex_);
            n = ++log_syncs_;
        }
        const rocksdb::IOStatus status = before_log_sync(n);
        if (!status.ok()) return status;
    }
    if (is_cut()) return no_power();
    return really();
}

void PowerLossFs::cut(Loss loss) {
    const std::lock_guard lock(mutex_);
    cut_ = true;
    for (const auto& [name, track] : tracks_) {
        std::error_code failed;
        if (track->written <= track->synced || !std::filesystem::exists(name, failed)) continue;
        const std::uint64_t lost = track->written - track->synced;
        const std::uint64_t left = loss == Loss::whole ? 0 : random_below(lost + 1);
        std::filesystem::resize_file(name, track->synced + left, failed);
        if (loss == Loss::zeros) std::filesystem::resize_file(name, track->written, failed);
    }
}

rocksdb::IOStatus PowerLossFs::NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                               std::unique_ptr<rocksdb::FSWritableFile>* result,
                                               rocksdb::IODebugContext* debug) {
    if (is_cut()) return no_power();
    std::unique_ptr<rocksdb::FSWritableFile> file;
    const rocksdb::IOStatus status = target()->NewWritableFile(name, options, &file, debug);
    if (!status.ok()) return status;
    const auto track = std::make_shared<Track>();
    const std::lock_guard lock(mutex_);
    tracks_[name] = track;
    *result = std::make_unique<File>(*this, name, std::move(file), track);
    return status;
}

rocksdb::IOStatus PowerLossFs::ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                                  std::unique_ptr<rocksdb::FSWritableFile>* result,
                                                  rocksdb::IODebugContext* debug) {
    if (is_cut()) return no_power();
    std::unique_ptr<rocksdb::FSWritableFile> file;
    const rocksdb::IOStatus status = target()->ReopenWritableFile(name, options, &file, debug);
    if (!status.ok()) return status;
    const auto track = std::make_shared<Track>();
    std::error_code failed;
    const std::uint64_t size = std::filesystem::file_size(name, failed);
    track->written = track->synced = failed ? 0 : size;
    const std::lock_guard lock(mutex_);
    tracks_[name] = track;
    *result = std::make_unique<File>(*this, name, std::move(file), track);
    return status;
}

rocksdb::IOStatus PowerLossFs::ReuseWritableFile(const std::string& name, const std::string& old_name,
                                                 const rocksdb::FileOptions& options,
                                                 std::unique_ptr<rocksdb::FSWritableFile>* result,
                                                 rocksdb::IODebugContext* debug) {
    const rocksdb::IOStatus renamed = RenameFile(old_name, name, rocksdb::IOOptions(), debug);
    if (!renamed.ok()) return renamed;
    return NewWritableFile(name, options, result, debug);
}

rocksdb::IOStatus PowerLossFs::RenameFile(const std::string& from, const std::string& to,
                                          const rocksdb::IOOptions& options, rocksdb::IODebugContext* debug) {
    const std::lock_guard lock(mutex_);
    if (cut_) return no_power();
    const rocksdb::IOStatus status = target()->RenameFile(from, to, options, debug);
    const auto found = tracks_.find(from);
    if (status.ok() && found != tracks_.end()) {
        tracks_[to] = found->second;
        tracks_.erase(from);
    }
    return status;
}

rocksdb::IOStatus PowerLossFs::DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                                          rocksdb::IODebugContext* debug) {
    const std::lock_guard lock(mutex_);
    if (cut_) return no_power();
    tracks_.erase(name);
    return target()->DeleteFile(name, options, debug);
}

}  // namespace opid::test
