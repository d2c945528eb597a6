#pragma once
// Bytes that were read and not yet used, in one contiguous block, and the per-thread store that such blocks go back
// to while a connection is idle.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace opid {

class Buffer {
public:
    Buffer() = default;
    explicit Buffer(std::size_t capacity) : data_(new char[capacity]), capacity_(capacity) {}
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }

    std::size_t capacity() const noexcept { return capacity_; }
    std::size_t size() const noexcept { return end_ - begin_; }
    bool empty() const noexcept { return begin_ == end_; }
    std::string_view view() const noexcept { return {data_.get() + begin_, size()}; }

    void clear() noexcept { begin_ = end_ = 0; }
    void consume(std::size_t count) noexcept {
        begin_ += count;
        if (begin_ == end_) clear();
    }

    // Room behind the unused bytes; moves nothing.
    char* room() noexcept { return data_.get() + end_; }
    std::size_t room_size() const noexcept { return capacity_ - end_; }
    void commit(std::size_t count) noexcept { end_ += count; }

    // Moves the unused bytes to the front. Views into them die.
    void compact() noexcept {
        if (begin_ == 0) return;
        std::memmove(data_.get(), data_.get() + begin_, size());
        end_ -= begin_;
        begin_ = 0;
    }
    // `bytes` must fit into room_size().
    void append(std::string_view bytes) noexcept {
        if (!bytes.empty()) std::memcpy(room(), bytes.data(), bytes.size());
        end_ += bytes.size();
    }

private:
    void swap(Buffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(capacity_, other.capacity_);
        std::swap(begin_, other.begin_);
        std::swap(end_, other.end_);
    }
    std::unique_ptr<char[]> data_;
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

// Two sizes are enough: one for messages that fit, one for bulk. Keeps a bounded number of idle blocks.
class BufferPool {
public:
    static constexpr std::size_t small_bytes = 16 * 1024;
    static constexpr std::size_t large_bytes = 128 * 1024;

    Buffer take_small() { return take(small_, small_bytes); }
    Buffer take_large() { return take(large_, large_bytes); }
    void give(Buffer buffer) {
        auto& shelf = buffer.capacity() == small_bytes ? small_ : large_;
        const std::size_t keep = buffer.capacity() == small_bytes ? 256 : 32;
        if (buffer.capacity() == 0 || shelf.size() >= keep) return;
        buffer.clear();
        shelf.push_back(std::move(buffer));
    }
    // Replaces a small block by a large one with the same bytes. Views die.
    void grow(Buffer& buffer) {
        Buffer larger = take_large();
        larger.append(buffer.view());
        std::swap(buffer, larger);
        give(std::move(larger));
    }

private:
    static Buffer take(std::vector<Buffer>& shelf, std::size_t bytes) {
        if (shelf.empty()) return Buffer(bytes);
        Buffer buffer = std::move(shelf.back());
        shelf.pop_back();
        return buffer;
    }
    std::vector<Buffer> small_;
    std::vector<Buffer> large_;
};

}  // namespace opid
