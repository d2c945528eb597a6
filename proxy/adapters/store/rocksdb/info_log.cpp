#include "adapters/store/rocksdb/info_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace opid {
namespace {

constexpr std::size_t line_bytes_max = 2048;  // longer lines are cut

}  // namespace

InfoLog::InfoLog(const std::string& path, std::uint64_t bytes_max)
    : Logger(rocksdb::InfoLogLevel::WARN_LEVEL), bytes_max_(bytes_max) {
    if (path.empty()) return;
    file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    struct stat facts {};
    if (file_ >= 0 && ::fstat(file_, &facts) == 0) bytes_ = static_cast<std::uint64_t>(facts.st_size);
}

InfoLog::~InfoLog() {
    if (file_ >= 0) ::close(file_);
    static_cast<void>(Close());
}

void InfoLog::Logv(const char* format, va_list values) {
    if (file_ < 0) return;
    char line[line_bytes_max];
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);  // tidy: allow(real clock) dates of a log for people
    std::tm parts{};
    ::gmtime_r(&now.tv_sec, &parts);
    std::size_t size = std::strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%SZ ", &parts);
    const int rest = std::vsnprintf(line + size, sizeof line - size, format, values);
    if (rest < 0) return;
    size = std::min(size + static_cast<std::size_t>(rest), sizeof line - 2);
    line[size++] = '\n';
    if (bytes_.fetch_add(size) + size > bytes_max_ && ::ftruncate(file_, 0) == 0) bytes_ = size;
    if (::write(file_, line, size) < 0) return;  // a full disk: the store itself says so
}

}  // namespace opid
