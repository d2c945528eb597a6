// Chunked bodies under arbitrary bytes: no crash, the same data and end however the bytes are split, and a body
// that is written again reads as the same data.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/http/chunk_reader.hpp"
#include "core/http/chunk_writer.hpp"

using namespace opid::http;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

struct Body {
    std::string data;
    ChunkReader::Kind end = ChunkReader::Kind::need_more;
    std::size_t consumed = 0;
    std::string_view detail;
    std::size_t trailers = 0;
};

Body read(std::string_view bytes, std::size_t step) {
    HeadLimits limits;
    limits.chunk_extension_bytes = 16;
    limits.message_extension_bytes = 48;
    limits.chunk_overhead_bytes = 64;
    limits.trailer_bytes = 64;
    limits.fields = 4;
    ChunkReader reader(MessageSide::request, limits);
    Body body;
    while (body.consumed < bytes.size()) {
        const std::string piece(bytes.substr(body.consumed, step));  // nothing may be kept from the piece before
        const auto got = reader.next(piece);
        require(got.consumed <= piece.size());
        require(got.kind != ChunkReader::Kind::data || !got.data.empty());
        require(got.kind != ChunkReader::Kind::need_more || got.consumed == piece.size());
        body.data += got.data;
        body.consumed += got.consumed;
        body.end = got.kind == ChunkReader::Kind::data ? ChunkReader::Kind::need_more : got.kind;
        body.detail = got.refusal.detail;
        if (body.end != ChunkReader::Kind::need_more) break;
    }
    body.trailers = reader.all_trailers().size();
    require(reader.data_bytes() == body.data.size());
    return body;
}

void check_written(const std::string& data, std::size_t step) {
    ChunkWriter writer;
    std::string out;
    for (std::size_t at = 0; at < data.size(); at += step) {
        writer.append(std::string_view(data).substr(at, step), out);
        writer.append({}, out);
    }
    out += writer.finish();
    out += writer.finish();
    ChunkReader reader(MessageSide::response);
    std::string_view rest = out;
    std::string again;
    for (;;) {
        const auto got = reader.next(rest);
        rest.remove_prefix(got.consumed);
        again += got.data;
        if (got.kind != ChunkReader::Kind::data) {
            require(got.kind == ChunkReader::Kind::end && rest.empty());
            break;
        }
    }
    require(again == data);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const Body whole = read(bytes, std::max<std::size_t>(size, 1));
    for (const std::size_t step : {std::size_t{1}, std::size_t{2}, std::size_t{7}}) {
        const Body split = read(bytes, step);
        require(split.data == whole.data);
        require(split.end == whole.end);
        require(split.detail == whole.detail);
        require(split.trailers == whole.trailers);
        if (whole.end == ChunkReader::Kind::end) require(split.consumed == whole.consumed);
    }
    check_written(whole.data, 3);
    return 0;
}
