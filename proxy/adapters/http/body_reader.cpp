#include "adapters/http/body_reader.hpp"

#include <algorithm>

namespace opid {

using http::BodyKind;

void BodyReader::start(const http::Framing& framing) {
    framing_ = framing;
    left_ = framing.length;
    taken_ = 0;
    filled_ = false;
    done_ = !framing.has_body();
    chunks_.reset();  // the trailers of an earlier message, too
}

BodyReader::Piece BodyReader::deliver(std::string_view data) {
    taken_ += data.size();
    return {Kind::data, data, {}};
}

BodyReader::Piece BodyReader::finish() {
    done_ = true;
    return {Kind::end, {}, {}};
}

BodyReader::Piece BodyReader::next_buffered(Buffer& buffer) {
    if (done_) return {Kind::end, {}, {}};
    if (buffer.empty()) return {Kind::blocked, {}, Io::State::want_read};
    const std::string_view bytes = buffer.view();
    if (framing_.kind == BodyKind::length) {
        const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size()));
        buffer.consume(part);
        left_ -= part;
        if (left_ == 0) done_ = true;
        return deliver(bytes.substr(0, part));
    }
    if (framing_.kind == BodyKind::until_close) {
        buffer.consume(bytes.size());
        return deliver(bytes);
    }
    const http::ChunkReader::Step step = chunks_.next(bytes);
    buffer.consume(step.consumed);
    switch (step.kind) {
        case http::ChunkReader::Kind::data: return deliver(step.data);
        case http::ChunkReader::Kind::end: return finish();
        case http::ChunkReader::Kind::need_more: return {Kind::blocked, {}, Io::State::want_read};
        case http::ChunkReader::Kind::refused: break;
    }
    refusal_ = step.refusal;
    return {Kind::refused, {}, {}};
}

BodyReader::Piece BodyReader::next(Buffer& buffer, Stream& stream, BufferPool& pool) {
    for (;;) {
        const Piece piece = next_buffered(buffer);
        if (piece.kind != Kind::blocked) return piece;
        if (filled_ && buffer.capacity() < BufferPool::large_bytes) pool.grow(buffer);
        std::size_t room = buffer.room_size();
        if (framing_.kind == BodyKind::length) {
            room = static_cast<std::size_t>(std::min<std::uint64_t>(left_, room));
        }
        const Io io = stream.read_now(buffer.room(), room);
        switch (io.state) {
            case Io::State::done:
                buffer.commit(io.bytes);
                filled_ = buffer.room_size() == 0;
                break;
            case Io::State::want_read:
            case Io::State::want_write: return {Kind::blocked, {}, io.state};
            case Io::State::end:
                if (framing_.kind == BodyKind::until_close) return finish();
                return {Kind::cut, {}, {}};
            case Io::State::cut: return {Kind::cut, {}, {}};
            case Io::State::failed: return {Kind::failed, {}, {}};
        }
    }
}

}  // namespace opid
