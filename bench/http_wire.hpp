// The little of HTTP/1.1 that a load generator and a fake provider need: find a head in a buffer, walk its fields,
// skip its body. Not for production use: no obsolete folding, no bounds but what the callers set; the peer is ours.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace opid::bench {

inline bool same_name(std::string_view a, std::string_view lower_case) {
    if (a.size() != lower_case.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const char c = a[i];
        if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c) != lower_case[i]) return false;
    }
    return true;
}

// Length of the head that `data` starts with, its empty line included; 0 while it is incomplete.
inline std::size_t head_length(std::string_view data) {
    const auto end = data.find("\r\n\r\n");
    return end == std::string_view::npos ? 0 : end + 4;
}

// Calls visit(name, value) for every field line of a complete head, after its first line.
template <class Visit>
void for_each_field(std::string_view head, Visit visit) {
    auto line_end = head.find("\r\n");
    while (line_end != std::string_view::npos) {
        head.remove_prefix(line_end + 2);
        line_end = head.find("\r\n");
        if (line_end == 0 || line_end == std::string_view::npos) return;
        const auto line = head.substr(0, line_end);
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        auto value = line.substr(colon + 1);
        while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
        while (!value.empty() && value.back() == ' ') value.remove_suffix(1);
        visit(line.substr(0, colon), value);
    }
}

// Skips a body of either framing, fed in pieces of any size.
class BodySkipper {
public:
    void expect_length(std::uint64_t bytes) {
        left_ = bytes;
        state_ = bytes == 0 ? State::done : State::fixed;
    }
    void expect_chunks() {
        left_ = 0;
        line_bytes_ = 0;
        state_ = State::size;
    }
    bool done() const { return state_ == State::done; }
    bool broken() const { return state_ == State::broken; }

    // Returns how many of the bytes belonged to the body; the rest is the next message's.
    std::size_t feed(std::string_view data) {
        std::size_t used = 0;
        while (used < data.size() && !done() && !broken()) {
            if (state_ == State::fixed || state_ == State::chunk) {
                used += skip(data.size() - used);
            } else {
                line_byte(data[used]);
                ++used;
            }
        }
        return used;
    }

private:
    enum class State { fixed, size, extension, chunk, after_chunk, trailer, done, broken };

    std::size_t skip(std::size_t available) {
        const auto step = left_ < available ? left_ : available;
        left_ -= step;
        if (left_ == 0) state_ = state_ == State::fixed ? State::done : State::after_chunk;
        return static_cast<std::size_t>(step);
    }

    void line_byte(char c) {
        if (c == '\n') return line_end();
        if (c == '\r') return;
        ++line_bytes_;
        if (state_ != State::size) return;
        const auto digit = hex(c);
        if (digit < 0) {
            state_ = c == ';' || c == ' ' ? State::extension : State::broken;
        } else {
            left_ = left_ * 16 + static_cast<unsigned>(digit);
        }
    }

    void line_end() {
        if (state_ == State::after_chunk) {
            left_ = 0;
            state_ = State::size;
        } else if (state_ == State::trailer) {
            if (line_bytes_ == 0) state_ = State::done;
        } else {
            state_ = line_bytes_ == 0 ? State::broken : left_ == 0 ? State::trailer : State::chunk;
        }
        line_bytes_ = 0;
    }

    static int hex(char c) {
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        if (c >= 'A' && c <= 'F') return c - 'A' + 10;
        return -1;
    }

    State state_ = State::done;
    std::uint64_t left_ = 0;
    std::size_t line_bytes_ = 0;
};

inline std::uint64_t to_number(std::string_view text) {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

}  // namespace opid::bench
