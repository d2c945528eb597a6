#include "adapters/http/io_shard.hpp"

#include <algorithm>
#include <array>

#include "core/http/date.hpp"

namespace opid {

namespace {

constexpr std::size_t scratches_kept = 512;
constexpr std::size_t text_kept = 256 * 1024;
constexpr std::size_t linger_bytes_max = 1 << 20;

void trim(std::string& text) {
    text.clear();
    if (text.capacity() > text_kept) text = std::string();
}

}  // namespace

ShardMember::ShardMember(IoShard& shard) : shard_(shard), next_(shard.members_) {
    if (next_ != nullptr) next_->previous_ = this;
    shard.members_ = this;
    shard.metrics.connections_open.add();
}

ShardMember::~ShardMember() {
    if (next_ != nullptr) next_->previous_ = previous_;
    (previous_ != nullptr ? previous_->next_ : shard_.members_) = next_;
    shard_.metrics.connections_open.subtract();
    shard_.shared.connections.fetch_sub(1, std::memory_order_relaxed);
}

IoShard::IoShard(SharedPlane& plane) : shared(plane) {}

IoShard::~IoShard() = default;

void IoShard::drain_members() noexcept {
    for (ShardMember* at = members_; at != nullptr; at = at->next_) at->drain();
}

ScratchPtr IoShard::take_scratch() {
    ScratchPtr scratch;
    if (scratches_.empty()) {
        scratch = std::make_unique<Scratch>(shared.options.limits.head);
    } else {
        scratch = std::move(scratches_.back());
        scratches_.pop_back();
    }
    scratch->in = buffers.take_small();
    return scratch;
}

void IoShard::give_scratch(ScratchPtr scratch) {
    buffers.give(std::move(scratch->in));
    buffers.give(std::move(scratch->up));
    if (scratches_.size() >= scratches_kept) return;
    trim(scratch->out);
    trim(scratch->answer);
    scratch->in = Buffer();
    scratch->up = Buffer();
    scratch->progress = {};
    scratches_.push_back(std::move(scratch));
}

const ProfileSet& IoShard::profiles() {
    const std::uint64_t newest = shared.parts.profiles.generation();
    if (newest != generation_) {
        profiles_ = shared.parts.profiles.current();
        generation_ = newest;
    }
    return *profiles_;
}

std::string_view IoShard::date() {
    const Instant now = shared.parts.timers.now();
    const std::int64_t second = to_unix_ms(now) / 1000;
    if (second != date_second_) {
        date_second_ = second;
        date_ = http::imf_fixdate_bytes(now);
    }
    return {date_.data(), date_.size()};
}

Task<bool> write_all(IoShard& shard, Stream& stream, std::string_view bytes) {
    return write_pieces(shard, stream, Pieces{bytes});
}

Task<bool> write_pieces(IoShard& shard, Stream& stream, Pieces pieces, const bool* stop) {
    StreamDeadline stalled;
    std::size_t first = 0;
    for (;;) {
        while (first < pieces.size() && pieces[first].empty()) ++first;
        if (first == pieces.size()) co_return true;
        std::size_t last = first + 1;
        while (last < pieces.size() && !pieces[last].empty()) ++last;
        const Io io = stream.write_now(std::span<const std::string_view>(&pieces[first], last - first));
        if (io.state == Io::State::done) {
            std::size_t left = io.bytes;
            for (std::size_t i = first; i < last && left > 0; ++i) {
                const std::size_t part = std::min(left, pieces[i].size());
                pieces[i].remove_prefix(part);
                left -= part;
            }
            continue;
        }
        if (!io.blocked()) co_return false;
        stalled.arm(shard.deadlines, stream, shard.shared.options.timeouts.write_stall);
        auto ready = stream.wait(io.state);
        co_await std::move(ready);
        if (stalled.expired() || (stop != nullptr && *stop)) co_return false;
        stalled.disarm();
    }
}

Task<> linger(IoShard& shard, Stream& stream) {
    stream.shut_down_write();
    StreamDeadline over;
    over.arm(shard.deadlines, stream, shard.shared.options.timeouts.linger);
    std::size_t drained = 0;
    std::array<char, 4096> sink;  // NOLINT: only written to
    while (stream.is_open() && !over.expired() && drained < linger_bytes_max) {
        const Io io = stream.read_now(sink.data(), sink.size());
        if (io.state == Io::State::done) {
            drained += io.bytes;
            continue;
        }
        if (!io.blocked()) break;
        auto ready = stream.wait(io.state);
        co_await std::move(ready);
    }
    over.disarm();
    stream.close();
}

}  // namespace opid
