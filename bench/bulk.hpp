// Bytes in bulk through a blind tunnel: a pattern that both ends know, and one end of a connection that sends it,
// receives it, or both. Unverified bytes cost almost nothing here: sendfile from memory, and a read that drops them.
//
// The client opens with 32 bytes, "down 1000000\n" filled up with spaces: the direction, seen from the client, and how
// many bytes go each way; 0 means without end. After the last of a counted upload the server answers with 8 bytes,
// "received" or "damaged!".
#pragma once

#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace opid::bench {

inline constexpr std::size_t bulk_head_bytes = 32;
inline constexpr std::string_view bulk_received = "received";
inline constexpr std::string_view bulk_damaged = "damaged!";

struct BulkPlan {
    bool up = false;
    bool down = false;
    std::uint64_t count = 0;

    std::string_view direction() const { return up && down ? "both" : up ? "up" : "down"; }
    std::string head() const {
        return fmt::format("{:{}}", fmt::format("{} {}\n", direction(), count), bulk_head_bytes);
    }
    static std::optional<BulkPlan> parse(std::string_view head) {
        BulkPlan plan;
        const auto space = head.find(' ');
        if (space == std::string_view::npos) return std::nullopt;
        const auto word = head.substr(0, space);
        plan.up = word == "up" || word == "both";
        plan.down = word == "down" || word == "both";
        std::from_chars(head.data() + space + 1, head.data() + head.size(), plan.count);
        if (!plan.up && !plan.down) return std::nullopt;
        return plan;
    }
};

// Noise whose length is a prime number, so that a piece at a wrong place never looks right.
class Pattern {
public:
    Pattern() : file_(memfd_create("pattern", MFD_CLOEXEC)), bytes_(length, '\0') {
        std::uint64_t state = 0x9E3779B97F4A7C15U;
        for (auto& byte : bytes_) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            byte = static_cast<char>(state);
        }
        for (std::size_t done = 0; done < length;) {
            const auto wrote = write(file_, bytes_.data() + done, length - done);
            if (wrote <= 0) break;
            done += static_cast<std::size_t>(wrote);
        }
    }
    ~Pattern() { close(file_); }
    Pattern(const Pattern&) = delete;
    Pattern& operator=(const Pattern&) = delete;

    // Sends up to `most` bytes of the stream from `position` on; like send(2).
    ssize_t send_from(std::uint64_t position, std::uint64_t most, int to) const {
        off_t offset = static_cast<off_t>(position % length);
        return sendfile(to, file_, &offset, std::min<std::uint64_t>(most, length - static_cast<std::size_t>(offset)));
    }
    bool matches(std::uint64_t position, std::string_view data) const {
        while (!data.empty()) {
            const auto offset = static_cast<std::size_t>(position % length);
            const auto step = std::min(data.size(), length - offset);
            if (std::memcmp(bytes_.data() + offset, data.data(), step) != 0) return false;
            position += step;
            data.remove_prefix(step);
        }
        return true;
    }

private:
    static constexpr std::size_t length = 1048573;
    int file_;
    std::vector<char> bytes_;
};

// Both sides of one connection's bytes. Counted bytes are compared with the pattern, endless ones are dropped unread.
class BulkEnd {
public:
    BulkEnd() = default;
    BulkEnd(int fd, bool sends, bool receives, std::uint64_t count)
        : fd_(fd),
          sends_(sends),
          receives_(receives),
          count_(count) {}

    bool wants_to_send() const { return sends_ && (count_ == 0 || sent_ < count_); }
    bool wants_to_receive() const { return receives_ && (count_ == 0 || received_ < count_); }
    std::uint64_t sent() const { return sent_; }
    std::uint64_t received() const { return received_; }
    bool damaged() const { return damaged_; }

    // False when the connection is gone.
    bool send_some(const Pattern& pattern) {
        if (!wants_to_send()) return true;
        const auto most = count_ == 0 ? turn_bytes : std::min(turn_bytes, count_ - sent_);
        const auto done = pattern.send_from(sent_, most, fd_);
        if (done < 0) return errno == EAGAIN || errno == EINTR;
        sent_ += static_cast<std::uint64_t>(done);
        return done > 0;
    }
    bool receive_some(const Pattern& pattern, std::vector<char>& scratch) {
        const bool compare = count_ != 0;
        const auto most = compare ? std::min<std::uint64_t>(scratch.size(), count_ - received_) : turn_bytes;
        const auto got = recv(fd_, compare ? scratch.data() : nullptr, most, MSG_DONTWAIT | (compare ? 0 : MSG_TRUNC));
        if (got < 0) return errno == EAGAIN || errno == EINTR;
        const auto bytes = static_cast<std::size_t>(got);
        if (compare && !pattern.matches(received_, std::string_view(scratch.data(), bytes))) damaged_ = true;
        received_ += bytes;
        return got > 0;
    }

private:
    static constexpr std::uint64_t turn_bytes = 1u << 18;  // so that one connection does not starve the others
    int fd_ = -1;
    bool sends_ = false;
    bool receives_ = false;
    std::uint64_t count_ = 0;
    std::uint64_t sent_ = 0;
    std::uint64_t received_ = 0;
    bool damaged_ = false;
};

}  // namespace opid::bench
