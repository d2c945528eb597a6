#pragma once
// Stands between the upstream and the caller of a streamed answer: puts opid's fields on the head and remembers
// that the answer went out.
#include "core/operation/operation.hpp"
#include "engine/ports/upstream.hpp"

namespace opid {

class StreamRelay final : public ResponseSink {
public:
    StreamRelay(ResponseSink* inner, const Operation& operation) : inner_(inner), operation_(operation) {}
    bool wants(const InboundResponse& head, bool event_stream, bool length_known, std::uint64_t length) override;
    Task<> head(const InboundResponse& head) override;
    Task<> data(std::string_view bytes) override;
    Task<> end() override;
    Task<> abort() override;
    bool streamed() const { return streamed_; }

private:
    ResponseSink* inner_;  // null: nothing is streamed
    const Operation& operation_;
    bool streamed_ = false;
};

}  // namespace opid
