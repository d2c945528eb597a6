// Latencies in logarithmic buckets of 128 steps: at most 0.8 % off, constant memory, a few nanoseconds a record.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace opid::bench {

class Histogram {
public:
    void record(std::uint64_t value) {
        ++buckets_[index(value)];
        ++count_;
    }
    void add(const Histogram& other) {
        for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
        count_ += other.count_;
    }
    std::uint64_t count() const { return count_; }

    // The value below which `share` (0 to 1) of the records lie; 0 without records.
    std::uint64_t quantile(double share) const {
        if (count_ == 0) return 0;
        const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(count_ - 1)) + 1;
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < buckets_.size(); ++i) {
            seen += buckets_[i];
            if (seen >= wanted) return middle(i);
        }
        return middle(buckets_.size() - 1);
    }

private:
    static std::size_t index(std::uint64_t value) {
        const auto shift = static_cast<std::size_t>(std::bit_width(value | 127U)) - 7;
        return shift * 64 + static_cast<std::size_t>(value >> shift);
    }
    static std::uint64_t middle(std::size_t at) {
        const std::size_t shift = at < 128 ? 0 : at / 64 - 1;
        return (static_cast<std::uint64_t>(at - shift * 64) << shift) + (std::uint64_t{1} << shift) / 2;
    }

    std::array<std::uint64_t, 58 * 64 + 64> buckets_{};
    std::uint64_t count_ = 0;
};

}  // namespace opid::bench
