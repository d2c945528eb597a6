#pragma once
// Bytes both ways, unseen, with half-close: behind CONNECT and behind an upgrade. A silent tunnel holds no buffers.
#include "adapters/http/io_shard.hpp"

namespace opid {

class Tunnel {
public:
    // `from_client` and `from_upstream` hold bytes that were read already; they go first.
    Tunnel(IoShard& shard, Stream& client, Stream& upstream, Buffer from_client, Buffer from_upstream);
    // Returns when both directions have ended. Both streams are closed then.
    Task<> run();

private:
    struct Way {
        Stream& from;
        Stream& to;
        Buffer first;
        Counter& bytes;
    };
    Task<> carry(Way& way);
    bool read_into(Way& way, Buffer& buffer, Io::State& wait);
    void break_off() noexcept;

    IoShard& shard_;
    Stream& client_;
    Stream& upstream_;
    Way up_;
    Way down_;
    TaskGroup other_;
    bool broken_ = false;
};

}  // namespace opid
