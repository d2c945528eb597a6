#pragma once
// Takes one message's body off a connection, piece by piece, by whatever framing its head chose. Never reads past the
// body of a message with a length; what a chunked one is followed by stays in the buffer.
#include <cstdint>
#include <string_view>

#include "adapters/net/buffer.hpp"
#include "adapters/net/stream.hpp"
#include "core/http/chunk_reader.hpp"
#include "core/http/framing.hpp"

namespace opid {

class BodyReader {
public:
    enum class Kind : std::uint8_t {
        data,     // `data` lies in the buffer until the next call
        end,      // the body is complete
        blocked,  // wait for `wait` and call again
        refused,  // malformed: refusal() says why
        cut,      // the peer ended before the body did
        failed,   // the connection broke
    };
    struct Piece {
        Kind kind = Kind::end;
        std::string_view data;
        Io::State wait = Io::State::want_read;
    };

    BodyReader(http::MessageSide side, const http::HeadLimits& limits) : chunks_(side, limits) {}

    void start(const http::Framing& framing);
    // Only what the buffer holds; blocked when that is used up.
    Piece next_buffered(Buffer& buffer);
    // As above, and reads once when the buffer is empty. The buffer grows through `pool` when reads fill it.
    Piece next(Buffer& buffer, Stream& stream, BufferPool& pool);

    bool done() const { return done_; }
    std::uint64_t taken() const { return taken_; }
    const http::FieldList& trailers() const { return chunks_.trailers(); }
    const http::FieldList& all_trailers() const { return chunks_.all_trailers(); }
    const http::Refusal& refusal() const { return refusal_; }

private:
    Piece deliver(std::string_view data);
    Piece finish();

    http::ChunkReader chunks_;
    http::Framing framing_;
    http::Refusal refusal_;
    std::uint64_t left_ = 0;
    std::uint64_t taken_ = 0;
    bool done_ = true;
    bool filled_ = false;  // the last read took all the room there was
};

}  // namespace opid
