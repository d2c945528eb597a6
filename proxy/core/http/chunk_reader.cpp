#include "core/http/chunk_reader.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/http/field_line.hpp"
#include "core/http/octets.hpp"

namespace opid::http {
namespace {

constexpr unsigned size_digits_max = 16;
constexpr std::uint64_t chunk_bytes_max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
constexpr std::string_view line_fault = "A chunk size line doesn't end in CRLF.";
constexpr std::string_view data_fault = "Chunk data is not followed by CRLF.";
constexpr std::uint64_t line_ends = 4;      // CRLF behind the size and behind the data
constexpr std::uint64_t free_framing = 16;  // framing bytes a chunk that don't count as overhead

int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

ChunkReader::ChunkReader(MessageSide side, const HeadLimits& limits) : side_(side), limits_(limits) {}

void ChunkReader::reset() {
    state_ = State::size;
    digits_ = 0;
    left_ = 0;
    extension_bytes_ = message_extension_bytes_ = 0;
    overhead_ = 0;
    data_bytes_ = 0;
    trailer_text_.clear();
    trailer_line_ = 0;
    all_trailers_.clear();
    trailers_.clear();
    refusal_ = {};
}

ChunkReader::Step ChunkReader::next(std::string_view bytes) {
    const char* const begin = bytes.data();
    const char* const end = begin + bytes.size();
    const char* at = begin;
    bool sound = state_ != State::failed;
    while (sound && state_ != State::done && at != end) {
        switch (state_) {
            case State::size: sound = read_size(at, end); break;
            case State::extension: sound = read_extension(at, end); break;
            case State::size_lf:
                sound = size_line_done() &&
                        read_expected(at, '\n', left_ > 0 ? State::data : State::trailers, line_fault);
                break;
            case State::data: {
                const auto available = static_cast<std::uint64_t>(end - at);
                const auto size = static_cast<std::size_t>(std::min(left_, available));
                const std::string_view data(at, size);
                left_ -= size;
                data_bytes_ += size;
                if (left_ == 0) state_ = State::data_cr;
                return {Kind::data, static_cast<std::size_t>(at - begin) + size, data, {}};
            }
            case State::data_cr: sound = read_expected(at, '\r', State::data_lf, data_fault); break;
            case State::data_lf: sound = read_expected(at, '\n', State::size, data_fault); break;
            case State::trailers: sound = read_trailers(at, end); break;
            case State::done:
            case State::failed: break;
        }
    }
    const auto consumed = static_cast<std::size_t>(at - begin);
    if (!sound) return {Kind::refused, consumed, {}, refusal_};
    return {state_ == State::done ? Kind::end : Kind::need_more, consumed, {}, {}};
}

bool ChunkReader::read_size(const char*& at, const char* end) {
    for (; at != end; ++at) {
        const int digit = hex_digit(*at);
        if (digit < 0) break;
        if (++digits_ > size_digits_max) return fail("A chunk size has more than 16 digits.");
        if (left_ > (chunk_bytes_max >> 4)) return fail("A chunk size is beyond all bounds.");
        left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
    }
    if (at == end) return true;
    if (digits_ == 0) return fail("A chunk doesn't begin with its size.");
    if (*at != ';' && *at != '\r') return fail("A chunk size is followed by a byte that is not allowed.");
    state_ = *at == ';' ? State::extension : State::size_lf;
    if (*at == '\r') ++at;
    return true;
}

bool ChunkReader::read_extension(const char*& at, const char* end) {
    const char* const stop = skip_value(at, end);
    const auto bytes = static_cast<std::size_t>(stop - at);
    extension_bytes_ += bytes;
    message_extension_bytes_ += bytes;
    if (extension_bytes_ > limits_.chunk_extension_bytes ||
        message_extension_bytes_ > limits_.message_extension_bytes) {
        return fail_bound(413, slug::body_too_large, "Chunk extensions are larger than limits.chunk_extensions.");
    }
    at = stop;
    if (at == end) return true;
    if (*at != '\r') return fail("A chunk extension holds a control byte.");
    ++at;
    state_ = State::size_lf;
    return true;
}

// Before the LF is looked at: bounds the framing that small chunks and padded sizes may cost.
bool ChunkReader::size_line_done() {
    const std::uint64_t free = free_framing + (left_ > chunk_bytes_max / 4 ? chunk_bytes_max / 2 : 2 * left_);
    const std::uint64_t total = overhead_ + digits_ + line_ends;
    overhead_ = total > free ? total - free : 0;
    digits_ = 0;
    extension_bytes_ = 0;
    if (overhead_ > limits_.chunk_overhead_bytes) {
        return fail_bound(413, slug::body_too_large, "The chunk framing outweighs the data.");
    }
    return true;
}

bool ChunkReader::read_expected(const char*& at, char expected, State next, std::string_view detail) {
    if (*at != expected) return fail(detail);
    ++at;
    state_ = next;
    return true;
}

bool ChunkReader::read_trailers(const char*& at, const char* end) {
    while (at != end && state_ == State::trailers) {
        const std::size_t room = limits_.trailer_bytes - trailer_text_.size();
        const auto available = std::min(static_cast<std::size_t>(end - at), room);
        const void* const found = available == 0 ? nullptr : std::memchr(at, '\n', available);
        const char* const stop = found == nullptr ? at + available : static_cast<const char*>(found) + 1;
        // From the byte before the new ones on: it may be a CR that waits for its LF.
        const std::size_t before = trailer_text_.empty() ? 0 : trailer_text_.size() - 1;
        trailer_text_.append(at, stop);
        at = stop;
        if (found != nullptr) {
            if (!trailer_line_done()) return false;
        } else if (has_stray_cr(std::string_view(trailer_text_).substr(std::max(before, trailer_line_)))) {
            return trailer_line_done();
        } else if (at != end) {
            return fail_bound(431, slug::head_too_large, "The trailer section is larger than limits.trailers.");
        }
    }
    return true;
}

bool ChunkReader::trailer_line_done() {
    const char* const text = trailer_text_.data();
    const FieldLine line = read_field_line(text + trailer_line_, text + trailer_text_.size(), NameBlanks::refuse);
    if (line.kind == LineKind::blank) return keep_trailers();
    if (line.kind != LineKind::field) return fail(line.fault);
    trailer_line_ = trailer_text_.size();
    return true;
}

bool ChunkReader::keep_trailers() {
    const char* at = trailer_text_.data();
    const char* const end = at + trailer_line_;
    while (at != end) {
        const FieldLine line = read_field_line(at, end, NameBlanks::refuse);
        if (all_trailers_.size() == limits_.fields) {
            return fail_bound(431, slug::head_too_large, "The trailer section has more fields than limits.fields.");
        }
        all_trailers_.add(line.field.name, line.field.value);
        if (may_be_trailer(line.field.name)) trailers_.add(line.field.name, line.field.value);
        at = line.next;
    }
    state_ = State::done;
    return true;
}

bool ChunkReader::fail(std::string_view detail) { return fail_bound(400, slug::bad_request, detail); }

bool ChunkReader::fail_bound(std::uint16_t status, std::string_view slug, std::string_view detail) {
    refusal_ = {status, slug, detail, true};
    if (side_ == MessageSide::response) refusal_ = {502, slug::upstream_invalid, detail, true};
    state_ = State::failed;
    return false;
}

}  // namespace opid::http
