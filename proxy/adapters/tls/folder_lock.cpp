#include "adapters/tls/folder_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace opid {
namespace {

Error trouble(const std::string& folder, int code) {
    return {code == ENOENT ? ErrorKind::not_found : ErrorKind::unavailable,
            fmt::format("{}: {}", folder, std::strerror(code))};
}

}  // namespace

Result<FolderLock> FolderLock::take(const std::string& folder, Kind kind) {
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return trouble(folder, errno);
    FolderLock lock(folder, descriptor);
    while (::flock(descriptor, kind == Kind::exclusive ? LOCK_EX : LOCK_SH) != 0) {
        if (errno != EINTR) return trouble(folder, errno);
    }
    return lock;
}

FolderLock::~FolderLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
}

FolderLock::FolderLock(std::string folder, int descriptor) : folder_(std::move(folder)), descriptor_(descriptor) {}

FolderLock::FolderLock(FolderLock&& other) noexcept
    : folder_(std::move(other.folder_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

Status FolderLock::sync() const { return ::fsync(descriptor_) == 0 ? ok() : trouble(folder_, errno); }

}  // namespace opid
