#pragma once
// RocksDB's own log. Its built-in one ends the process (an assertion in the packaged library) when a line is written
// after one that found no space; this one drops what can't be written.
#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <string>

#include <rocksdb/env.h>

namespace opid {

class InfoLog final : public rocksdb::Logger {
public:
    // Appends to this file, which starts anew when it has grown to bytes_max. Empty path: nothing is kept.
    InfoLog(const std::string& path, std::uint64_t bytes_max);
    ~InfoLog() override;
    InfoLog(const InfoLog&) = delete;
    InfoLog& operator=(const InfoLog&) = delete;

    using rocksdb::Logger::Logv;
    void Logv(const char* format, va_list values) override;  // any thread

private:
    const std::uint64_t bytes_max_;
    int file_ = -1;
    std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace opid
