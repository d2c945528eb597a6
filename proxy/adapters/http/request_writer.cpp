#include "adapters/http/request_writer.hpp"

#include <algorithm>
#include <span>

namespace opid {

namespace {

std::string head_text(const OutboundRequest& request, const std::string& authority) {
    std::string head;
    head.reserve(request.fields.size() + request.target.size() + authority.size() + 128);
    head.append(request.method).append(" ").append(request.target).append(" HTTP/1.1\r\nHost: ");
    head.append(authority).append("\r\n").append(request.fields);
    if (request.chunked) {
        head += "Transfer-Encoding: chunked\r\n";
    } else if (!request.body.empty() || !request.no_length) {
        head.append("Content-Length: ").append(std::to_string(request.body.size())).append("\r\n");
    }
    return head += "\r\n";
}

}  // namespace

void RequestWriter::start(const OutboundRequest& request, const std::string& authority) {
    out_ = 0;
    head_ = head_text(request, authority);
    pieces_ = {head_, request.body, {}, {}};
    if (!request.chunked) return;
    chunks_.reset();
    pieces_[1] = chunks_.before_data(request.body.size());
    pieces_[2] = request.body;
    tail_ = request.body.empty() ? std::string() : std::string(http::ChunkWriter::after_data);
    tail_ += chunks_.finish();
    pieces_[3] = tail_;
}

bool RequestWriter::all_out() const {
    return std::all_of(pieces_.begin(), pieces_.end(), [](std::string_view piece) { return piece.empty(); });
}

Io RequestWriter::write_some(Stream& stream) {
    std::array<std::string_view, 4> left{};
    std::size_t count = 0;
    for (const std::string_view piece : pieces_) {
        if (!piece.empty()) left[count++] = piece;
    }
    const Io io = stream.write_now(std::span<const std::string_view>(left.data(), count));
    if (io.state != Io::State::done) return io;
    out_ += io.bytes;
    std::size_t moved = io.bytes;
    for (std::string_view& piece : pieces_) {
        const std::size_t part = std::min(moved, piece.size());
        piece.remove_prefix(part);
        moved -= part;
    }
    return io;
}

}  // namespace opid
