#pragma once
// A request body that is read whole: in memory while it is small, else in an unlinked file that is mapped. Either way
// one contiguous view.
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace opid {

// Bytes of bodies that the whole process may hold at a time. Thread-safe.
class BodyBudget {
public:
    explicit BodyBudget(std::uint64_t bytes) : left_(static_cast<std::int64_t>(bytes)) {}
    bool take(std::uint64_t bytes) {
        const auto wanted = static_cast<std::int64_t>(bytes);
        if (left_.fetch_sub(wanted, std::memory_order_relaxed) >= wanted) return true;
        left_.fetch_add(wanted, std::memory_order_relaxed);
        return false;
    }
    void give(std::uint64_t bytes) { left_.fetch_add(static_cast<std::int64_t>(bytes), std::memory_order_relaxed); }

private:
    std::atomic<std::int64_t> left_;
};

class BodySpool {
public:
    // `memory` and `disk` bound what all bodies hold together. `directory` must exist once a body passes memory_max.
    BodySpool(BodyBudget& memory, BodyBudget& disk, std::string directory, std::uint64_t memory_max,
              std::uint64_t body_max);
    ~BodySpool();
    BodySpool(const BodySpool&) = delete;
    BodySpool& operator=(const BodySpool&) = delete;

    // invalid: more than body_max. overloaded: the process holds too much. unavailable: the disk failed.
    Status append(std::string_view bytes);
    // The whole body, valid while this lives. No append() afterwards. Error: unavailable.
    Result<std::string_view> finish();
    std::uint64_t size() const { return size_; }
    bool on_disk() const { return file_ >= 0; }

private:
    Status move_to_disk();
    Status write_out(std::string_view bytes);

    BodyBudget& memory_budget_;
    BodyBudget& disk_budget_;
    std::string directory_;
    std::uint64_t memory_max_;
    std::uint64_t body_max_;
    std::string memory_;
    std::uint64_t size_ = 0;
    int file_ = -1;
    void* map_ = nullptr;
};

}  // namespace opid
