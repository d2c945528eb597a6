#pragma once
// The profiles in force now. Whoever serves requests keeps the snapshot that it read and asks for a new one only when
// the generation has moved, so a request costs one relaxed load.
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "core/profile/profile_set.hpp"

namespace opid {

using ProfileSetPtr = std::shared_ptr<const ProfileSet>;

// Thread-safe.
class ProfileBoard {
public:
    ProfileBoard() : current_(std::make_shared<const ProfileSet>()) {}
    explicit ProfileBoard(ProfileSetPtr first) : current_(std::move(first)) {}

    ProfileSetPtr current() const {
        const std::lock_guard lock(mutex_);
        return current_;
    }
    // Grows with every publish(). A reader that sees a new number then gets that set or a later one.
    std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

    void publish(ProfileSetPtr next) {
        {
            const std::lock_guard lock(mutex_);
            current_.swap(next);
        }
        generation_.fetch_add(1, std::memory_order_release);
    }

private:
    mutable std::mutex mutex_;
    ProfileSetPtr current_;
    std::atomic<std::uint64_t> generation_{1};
};

}  // namespace opid
