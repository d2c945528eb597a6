#pragma once
// Stands between the upstream and the caller of a streamed answer: puts opid's fields on the head and remembers
// that the answer went out.
#include "core/operation/operation.hpp"
#include "engine/ports/upstream.hpp"

namespace opid {

class StreamRelay final : public ResponseSink {
public:
    // kept_max: an answer of more bytes is not kept, so it has to go out while it arrives.
    StreamRelay(ResponseSink* inner, const Operation& operation, std::uint64_t kept_max)
        : inner_(inner),
          operation_(operation),
          kept_max_(kept_max) {}
    bool wants(const InboundResponse& head, bool event_stream, std::uint64_t length) override;
    Task<> head(const InboundResponse& head) override;
    Task<> data(std::string_view bytes) override;
    Task<> end() override;
    Task<> abort() override;
    bool streamed() const { return streamed_; }
    Task<> finish(bool whole) { return whole ? end() : abort(); }

private:
    ResponseSink* inner_;  // null: nothing is streamed
    const Operation& operation_;
    std::uint64_t kept_max_;
    bool streamed_ = false;
};

}  // namespace opid
