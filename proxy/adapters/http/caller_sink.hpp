#pragma once
// Hands a streamed answer to the caller as it comes. A caller that left is told nothing and stops nothing.
#include "adapters/http/io_shard.hpp"
#include "core/http/chunk_writer.hpp"
#include "engine/ports/upstream.hpp"

namespace opid {

class CallerSink final : public ResponseSink {
public:
    CallerSink(IoShard& shard, Stream& client, std::uint8_t minor, bool keep_alive)
        : shard_(shard),
          client_(client),
          minor_(minor),
          keep_(keep_alive) {}

    bool wants(const InboundResponse& head, bool event_stream, std::uint64_t length) override;
    Task<> head(const InboundResponse& head) override;
    Task<> data(std::string_view bytes) override;
    Task<> end() override;
    Task<> abort() override;

    bool keep() const { return keep_ && whole_ && !gone_; }  // the connection can go on

private:
    IoShard& shard_;
    Stream& client_;
    std::uint8_t minor_;
    bool keep_;
    bool gone_ = false;
    bool whole_ = false;
    bool chunked_ = false;
    http::ChunkWriter chunks_;
};

}  // namespace opid
