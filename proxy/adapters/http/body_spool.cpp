#include "adapters/http/body_spool.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace opid {

namespace {

Error too_many_bytes() { return {ErrorKind::overloaded, "too many request bytes are held at a time"}; }

}  // namespace

BodySpool::BodySpool(BodyBudget& memory, BodyBudget& disk, std::string directory, std::uint64_t memory_max,
                     std::uint64_t body_max)
    : memory_budget_(memory),
      disk_budget_(disk),
      directory_(std::move(directory)),
      memory_max_(memory_max),
      body_max_(body_max) {}

BodySpool::~BodySpool() {
    if (map_ != nullptr) ::munmap(map_, size_);
    if (file_ >= 0) ::close(file_);
    (file_ >= 0 ? disk_budget_ : memory_budget_).give(size_);
}

Status BodySpool::append(std::string_view bytes) {
    if (bytes.size() > body_max_ - size_) return Error(ErrorKind::invalid, "the body is too large");
    if (file_ < 0 && size_ + bytes.size() > memory_max_) {
        const Status moved = move_to_disk();
        if (!moved) return moved;
    }
    BodyBudget& budget = file_ >= 0 ? disk_budget_ : memory_budget_;
    if (!budget.take(bytes.size())) return too_many_bytes();
    size_ += bytes.size();
    if (file_ >= 0) return write_out(bytes);
    memory_.append(bytes);
    return ok();
}

Status BodySpool::move_to_disk() {
    if (!disk_budget_.take(size_)) return too_many_bytes();
    file_ = ::open(directory_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file_ < 0) {
        // Not every file system has nameless files.
        std::string name = directory_ + "/body-XXXXXX";
        file_ = ::mkostemp(name.data(), O_CLOEXEC);
        if (file_ >= 0) ::unlink(name.c_str());
    }
    if (file_ < 0) {
        disk_budget_.give(size_);
        return Error(ErrorKind::unavailable, "spool " + directory_ + ": " + std::strerror(errno));
    }
    memory_budget_.give(size_);
    const Status written = write_out(memory_);
    memory_ = std::string();
    return written;
}

Status BodySpool::write_out(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto written = ::write(file_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return Error(ErrorKind::unavailable, "spool " + directory_ + ": " + std::strerror(errno));
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return ok();
}

Result<std::string_view> BodySpool::finish() {
    if (file_ < 0) return std::string_view(memory_);
    void* const mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file_, 0);
    if (mapped == MAP_FAILED) {
        return Error(ErrorKind::unavailable, "spool " + directory_ + ": " + std::strerror(errno));
    }
    map_ = mapped;
    return std::string_view(static_cast<const char*>(map_), size_);
}

}  // namespace opid
