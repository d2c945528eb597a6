#include "adapters/http/tunnel.hpp"

namespace opid {

Tunnel::Tunnel(IoShard& shard, Stream& client, Stream& upstream, Buffer from_client, Buffer from_upstream)
    : shard_(shard),
      client_(client),
      upstream_(upstream),
      up_{client, upstream, std::move(from_client), shard.metrics.bytes_to_upstream},
      down_{upstream, client, std::move(from_upstream), shard.metrics.bytes_to_client},
      other_(shard.context.get_executor()) {}

Task<> Tunnel::run() {
    shard_.metrics.tunnels_opened.add();
    shard_.metrics.tunnels_open.add();
    shard_.shared.exchanges.fetch_sub(1, std::memory_order_relaxed);  // a drain doesn't wait for tunnels
    other_.start(carry(down_));
    co_await carry(up_);
    co_await other_.wait_until_empty();
    shard_.shared.exchanges.fetch_add(1, std::memory_order_relaxed);
    shard_.metrics.tunnels_open.subtract();
    if (broken_) {
        // What was read has been handed on; what the peers see is a break, not an end.
        const Millis grace{100};
        co_await coarse_sleep(shard_.deadlines, grace);
        client_.reset();
        upstream_.reset();
    }
    client_.close();
    upstream_.close();
}

void Tunnel::break_off() noexcept {
    broken_ = true;
    client_.cancel();
    upstream_.cancel();
}

// Fills the buffer; false when this direction is over.
bool Tunnel::read_into(Way& way, Buffer& buffer, Io::State& wait) {
    if (buffer.capacity() == 0) buffer = shard_.buffers.take_small();
    const Io io = way.from.read_now(buffer.room(), buffer.room_size());
    wait = Io::State::done;
    switch (io.state) {
        case Io::State::done: buffer.commit(io.bytes); return true;
        case Io::State::want_read:
        case Io::State::want_write:
            wait = io.state;
            shard_.buffers.give(std::move(buffer));
            buffer = Buffer();
            return true;
        case Io::State::end:
        case Io::State::cut: way.to.shut_down_write(); return false;
        case Io::State::failed: break;
    }
    break_off();
    return false;
}

Task<> Tunnel::carry(Way& way) {
    Buffer buffer = std::move(way.first);
    while (!broken_) {
        Io::State wait = Io::State::done;
        Stream* blocked = &way.from;
        if (buffer.empty()) {
            const bool going = read_into(way, buffer, wait);
            if (!going) break;
        } else {
            const Io io = way.to.write_now(buffer.view());
            if (io.state == Io::State::done) {
                way.bytes.add(io.bytes);
                const bool was_full = buffer.room_size() == 0;
                buffer.consume(io.bytes);
                // Reads that fill a small block are bulk.
                if (buffer.empty() && was_full && buffer.capacity() == BufferPool::small_bytes) {
                    shard_.buffers.grow(buffer);
                }
                continue;
            }
            if (!io.blocked()) {
                break_off();
                break;
            }
            wait = io.state;
            blocked = &way.to;
        }
        if (wait == Io::State::done) continue;
        auto ready = blocked->wait(wait);
        co_await std::move(ready);
    }
    shard_.buffers.give(std::move(buffer));
}

}  // namespace opid
