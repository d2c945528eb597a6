#include "adapters/store/rocksdb/directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

namespace opid {
namespace {

constexpr std::string_view advice =
    "Nothing was changed. Run `opid store verify` to see what is there; put the folder back as it was, or use "
    "`opid store restore` with a backup. Going on without the missing part could run finished actions again";

Error refuse(const std::string& what) { return {ErrorKind::invalid, fmt::format("{}. {}", what, advice)}; }

Error system_error(std::string_view what, const std::string& path) {
    return {ErrorKind::unavailable, fmt::format("{} {}: {}", what, path, std::strerror(errno))};
}

}  // namespace

StorePaths::StorePaths(const std::string& root)
    : directory(root),
      db(root + "/db"),
      lock(root + "/LOCK"),
      high_water(root + "/high_water"),
      horizon(root + "/horizon"),
      horizon_accepted(root + "/horizon.accepted") {}

bool file_exists(const std::string& path) {
    struct stat facts {};
    return ::stat(path.c_str(), &facts) == 0;
}

bool database_exists(const StorePaths& paths) { return file_exists(paths.db + "/CURRENT"); }

bool wal_exists(const StorePaths& paths, std::uint64_t number) {
    return file_exists(fmt::format("{}/{:06}.log", paths.db, number));
}

Result<DirectoryLock> DirectoryLock::take(const StorePaths& paths, const std::string& node) {
    std::error_code failed;
    std::filesystem::create_directories(paths.directory, failed);
    if (failed) {
        return Error(ErrorKind::unavailable, fmt::format("can't make {}: {}", paths.directory, failed.message()));
    }
    DirectoryLock lock;
    lock.file_ = ::open(paths.lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock.file_ < 0) return system_error("can't open", paths.lock);
    if (::flock(lock.file_, LOCK_EX | LOCK_NB) != 0) {
        char holder[128] = {};
        const ssize_t got = ::pread(lock.file_, holder, sizeof holder - 1, 0);
        const std::string process = got > 0 ? fmt::format(" (process {})", holder) : std::string();
        return Error(ErrorKind::unavailable,
                     fmt::format("the store in {} is in use by another opid{}. One process may use it at a time",
                                 paths.directory, process));
    }
    const std::string self = std::to_string(::getpid()) + (node.empty() ? std::string() : ", node " + node);
    if (::ftruncate(lock.file_, 0) != 0 || ::pwrite(lock.file_, self.data(), self.size(), 0) < 0) {
        return system_error("can't write", paths.lock);
    }
    return lock;
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

DirectoryLock& DirectoryLock::operator=(DirectoryLock&& other) noexcept {
    std::swap(file_, other.file_);
    return *this;
}

DirectoryLock::~DirectoryLock() {
    if (file_ >= 0) ::close(file_);
}

Result<std::optional<Instant>> read_horizon(const std::string& path) {
    std::FILE* file = std::fopen(path.c_str(), "re");
    if (file == nullptr) {
        if (errno == ENOENT) return std::optional<Instant>{};
        return system_error("can't read", path);
    }
    long long ms = 0;
    const int got = std::fscanf(file, "opid-horizon-1 %lld", &ms);
    std::fclose(file);
    if (got != 1) return Error(ErrorKind::invalid, path + " is damaged");
    return std::optional<Instant>{from_unix_ms(ms)};
}

Status write_horizon(const std::string& path, Instant known_until) {
    const std::string text = fmt::format("opid-horizon-1 {}\n", to_unix_ms(known_until));
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return system_error("can't write", path);
    const bool written =
        ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(file) == 0;
    ::close(file);
    if (!written) return system_error("can't write", path);
    return sync_directory(std::filesystem::path(path).parent_path().string());
}

std::string utc_text(Instant at) {
    const auto seconds = static_cast<std::time_t>(to_unix_ms(at) / 1000);
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    char text[40];
    const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
    return {text, size};
}

Result<HighWater> check_high_water(const StorePaths& paths, const HighWaterFile& file, bool accept_missing) {
    const Result<HighWater> mark = file.read();
    const bool database = database_exists(paths);
    if (!mark) {
        if (!database && mark.error().kind() == ErrorKind::not_found) return HighWater{};
        if (mark.error().kind() == ErrorKind::unavailable) return mark.error();
        if (accept_missing) return HighWater{};
        return refuse(fmt::format("the high-water file of the store can't be used ({}), so nobody can tell whether "
                                  "the database is complete", mark.error().what()));
    }
    if (!database && mark->sequence > 0) return refuse("the database in " + paths.db + " is gone");
    if (database && !mark->opening && mark->wal_number != 0 && !wal_exists(paths, mark->wal_number)) {
        return refuse(fmt::format("the write-ahead log {:06}.log in {} is missing: commits that were "
                                  "acknowledged are lost", mark->wal_number, paths.db));
    }
    return mark;
}

}  // namespace opid
