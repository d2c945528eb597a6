#include "adapters/system/durable_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace opid {
namespace {

class Descriptor {
public:
    explicit Descriptor(int number) : number_(number) {}
    ~Descriptor() { close(); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int number() const { return number_; }
    bool open() const { return number_ >= 0; }
    bool close() {
        const int number = std::exchange(number_, -1);
        return number < 0 || ::close(number) == 0;
    }

private:
    int number_;
};

Error trouble(const std::string& path, int code) {
    if (code == ENOSPC || code == EDQUOT) {
        return Error(ErrorKind::unavailable,
                     fmt::format("{}: the disk is full. Nothing is lost: free some space, then start again", path));
    }
    return Error(ErrorKind::unavailable, fmt::format("{}: {}", path, std::strerror(code)));
}

std::string folder_of_file(const std::string& path) {
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

Status sync_folder(const std::string& path) {
    const std::string folder = folder_of_file(path);
    const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!descriptor.open() || ::fsync(descriptor.number()) != 0) return trouble(folder, errno);
    return ok();
}

Status write_beside(const std::string& path, std::string_view text, unsigned mode) {
    ::unlink(path.c_str());
    Descriptor descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (!descriptor.open() || ::fchmod(descriptor.number(), mode) != 0) return trouble(path, errno);
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor.number(), text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return trouble(path, errno);
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(descriptor.number()) != 0 || !descriptor.close()) return trouble(path, errno);
    return ok();
}

}  // namespace

Status write_durably(const std::string& path, std::string_view text, unsigned mode) {
    const std::string beside = path + ".new";
    const Status written = write_beside(beside, text, mode);
    if (!written) return written;
    if (std::rename(beside.c_str(), path.c_str()) != 0) return trouble(path, errno);
    return sync_folder(path);
}

Result<bool> create_durably(const std::string& path, std::string_view text, unsigned mode) {
    if (::access(path.c_str(), F_OK) == 0) return false;
    const std::string beside = fmt::format("{}.{}.new", path, ::getpid());
    const Status written = write_beside(beside, text, mode);
    if (!written) return written.error();
    const bool linked = ::link(beside.c_str(), path.c_str()) == 0;
    const int code = errno;
    ::unlink(beside.c_str());
    if (!linked && code == EEXIST) return false;
    if (!linked) return trouble(path, code);
    const Status synced = sync_folder(path);
    if (!synced) return synced.error();
    return true;
}

Result<std::string> read_small_file(const std::string& path, std::size_t bytes_max) {
    const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!descriptor.open() && errno == ENOENT) return Error(ErrorKind::not_found, path + ": no such file");
    if (!descriptor.open()) return trouble(path, errno);
    std::string text(bytes_max + 1, '\0');
    std::size_t length = 0;
    while (length < text.size()) {
        const ssize_t count = ::read(descriptor.number(), text.data() + length, text.size() - length);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return trouble(path, errno);
        if (count == 0) break;
        length += static_cast<std::size_t>(count);
    }
    if (length > bytes_max) return Error(ErrorKind::invalid, fmt::format("{}: larger than {} bytes", path, bytes_max));
    text.resize(length);
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return text;
}

}  // namespace opid
