#include "adapters/http/caller_sink.hpp"

#include <algorithm>

#include "adapters/http/local_answer.hpp"
#include "base/encoding.hpp"
#include "core/http/hop_by_hop.hpp"

namespace opid {

bool CallerSink::wants(const InboundResponse&, bool event_stream, std::uint64_t length) {
    return event_stream || length > shard_.shared.options.limits.stored_response;
}

Task<> CallerSink::head(const InboundResponse& head) {
    chunked_ = minor_ > 0;
    keep_ = keep_ && chunked_ && !shard_.draining();
    std::string out = "HTTP/1.1 " + std::to_string(head.status) + " ";
    out += head.reason.empty() ? reason_of(head.status) : std::string_view(head.reason);
    out += "\r\n";
    const auto add = [&out](std::string_view name, std::string_view value) {
        out.append(name).append(": ").append(value).append("\r\n");
    };
    bool dated = false;
    for (const auto& [name, value] : head.fields) {
        if (http::is_hop_by_hop(name) || equal_ignoring_case(name, "content-length")) continue;
        dated = dated || equal_ignoring_case(name, "date");
        add(name, value);
    }
    if (!dated) add("Date", shard_.date());
    if (chunked_) add("Transfer-Encoding", "chunked");
    const std::string& via = shard_.shared.options.via;
    if (!via.empty()) add("Via", "1.1 " + via);
    if (!keep_) add("Connection", "close");
    out += "\r\n";
    const bool written = co_await write_all(shard_, client_, out);
    gone_ = !written;
}

Task<> CallerSink::data(std::string_view bytes) {
    if (gone_ || bytes.empty()) co_return;
    Pieces pieces{bytes};
    if (chunked_) pieces = Pieces{chunks_.before_data(bytes.size()), bytes, http::ChunkWriter::after_data};
    const bool written = co_await write_pieces(shard_, client_, pieces);
    gone_ = !written;
}

Task<> CallerSink::end() {
    whole_ = true;
    if (gone_ || !chunked_) co_return;
    const bool written = co_await write_all(shard_, client_, chunks_.finish());
    gone_ = !written;
}

Task<> CallerSink::abort() {
    keep_ = false;
    if (!gone_) client_.reset();
    gone_ = true;
    co_return;
}

}  // namespace opid
