#include "engine/stream_relay.hpp"

#include "core/answer/replay_fields.hpp"

namespace opid {

bool StreamRelay::wants(const InboundResponse& head, bool event_stream, std::uint64_t length) {
    return inner_ != nullptr && (length > kept_max_ || inner_->wants(head, event_stream, length));
}

Task<> StreamRelay::head(const InboundResponse& head) {
    streamed_ = true;
    InboundResponse own;
    own.status = head.status;
    own.reason = head.reason;
    for (const auto& field : head.fields) {
        if (!is_withheld_field(field.first)) own.fields.push_back(field);
    }
    add_operation_fields(own.fields, operation_);
    co_await inner_->head(own);
}

Task<> StreamRelay::data(std::string_view bytes) { return inner_->data(bytes); }
Task<> StreamRelay::end() { return inner_->end(); }
Task<> StreamRelay::abort() { return inner_->abort(); }

}  // namespace opid
