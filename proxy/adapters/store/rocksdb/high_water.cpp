#include "adapters/store/rocksdb/high_water.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "adapters/store/rocksdb/key_layout.hpp"
#include "base/sha256.hpp"

namespace opid {
namespace {

constexpr std::string_view magic = "opid-hw1";
constexpr std::size_t slot_bytes = 4096;
constexpr std::size_t body_bytes = 8 + 8 + 8 + 8 + 1;  // magic, generation, sequence, log, opening
constexpr std::size_t check_bytes = 8;

struct Slot {
    std::uint64_t generation = 0;
    HighWater mark;
};

std::string check_of(std::string_view body) {
    const Digest digest = sha256(body);
    return std::string(digest.begin(), digest.begin() + check_bytes);
}

std::string encode(const Slot& slot) {
    std::string out(magic);
    append_big_endian(out, slot.generation);
    append_big_endian(out, slot.mark.sequence);
    append_big_endian(out, slot.mark.wal_number);
    out.push_back(slot.mark.opening ? 1 : 0);
    out.append(check_of(out));
    out.resize(slot_bytes);
    return out;
}

std::optional<Slot> decode(std::string_view bytes) {
    if (bytes.size() < body_bytes + check_bytes) return std::nullopt;
    const std::string_view body = bytes.substr(0, body_bytes);
    if (body.substr(0, magic.size()) != magic) return std::nullopt;
    if (bytes.substr(body_bytes, check_bytes) != check_of(body)) return std::nullopt;
    Slot slot;
    slot.generation = read_big_endian(body.substr(8));
    slot.mark.sequence = read_big_endian(body.substr(16));
    slot.mark.wal_number = read_big_endian(body.substr(24));
    slot.mark.opening = body[32] != 0;
    return slot;
}

Error system_error(std::string_view what, const std::string& path) {
    return {ErrorKind::unavailable, fmt::format("{} {}: {}", what, path, std::strerror(errno))};
}

Result<std::string> read_file(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        if (errno == ENOENT) return Error(ErrorKind::not_found, path + " does not exist");
        return system_error("can't read", path);
    }
    std::string bytes(2 * slot_bytes, '\0');
    const ssize_t got = ::pread(file, bytes.data(), bytes.size(), 0);
    ::close(file);
    if (got < 0) return system_error("can't read", path);
    bytes.resize(static_cast<std::size_t>(got));
    return bytes;
}

Result<Slot> newest(const std::string& path) {
    const Result<std::string> bytes = read_file(path);
    if (!bytes) return bytes.error();
    const std::string_view all = *bytes;
    const std::optional<Slot> first = decode(all.substr(0, slot_bytes));
    const std::optional<Slot> second = all.size() > slot_bytes ? decode(all.substr(slot_bytes)) : std::nullopt;
    if (!first && !second) return Error(ErrorKind::invalid, path + " is damaged");
    if (first && (!second || first->generation > second->generation)) return *first;
    return *second;
}

std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string(".") : path.substr(0, slash);
}

}  // namespace

Status sync_directory(const std::string& directory) {
    const int file = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return system_error("can't open", directory);
    const int failed = ::fsync(file);
    ::close(file);
    if (failed != 0) return system_error("can't sync", directory);
    return ok();
}

HighWaterFile::~HighWaterFile() {
    if (file_ >= 0) ::close(file_);
}

Result<HighWater> HighWaterFile::read() const {
    const Result<Slot> slot = newest(path_);
    if (!slot) return slot.error();
    return slot->mark;
}

Status HighWaterFile::open_for_writing() {
    const Result<Slot> slot = newest(path_);
    if (slot) generation_ = slot->generation;
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file_ < 0) return system_error("can't write", path_);
    if (slot) return ok();
    // Both blocks exist from the start, so that later writes only overwrite.
    const std::string empty(2 * slot_bytes, '\0');
    if (::pwrite(file_, empty.data(), empty.size(), 0) != static_cast<ssize_t>(empty.size()) ||
        ::fsync(file_) != 0) {
        return system_error("can't write", path_);
    }
    return sync_directory(parent_of(path_));
}

Status HighWaterFile::write(const HighWater& mark) {
    const std::lock_guard lock(mutex_);
    if (file_ < 0) {
        if (Status opened = open_for_writing(); !opened) return opened;
    }
    // A slot whose writing failed is written again: the other one may be the only good one.
    const std::uint64_t generation = generation_ + 1;
    const std::string bytes = encode({generation, mark});
    const auto offset = static_cast<off_t>((generation % 2) * slot_bytes);
    const ssize_t written = ::pwrite(file_, bytes.data(), bytes.size(), offset);
    if (written != static_cast<ssize_t>(bytes.size())) {
        const bool full = written >= 0 || errno == ENOSPC || errno == EDQUOT;
        if (full) return Error(ErrorKind::overloaded, "no space to write " + path_);
        return system_error("can't write", path_);
    }
    if (::fdatasync(file_) != 0) return system_error("can't sync", path_);
    generation_ = generation;
    return ok();
}

}  // namespace opid
