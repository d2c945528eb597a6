#pragma once
// Our own chunked framing (RFC 9112 section 7.1). An empty span never makes a chunk, and the last chunk can be
// written once only, so a body can neither be cut short nor be followed by a second end.
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/http/fields.hpp"

namespace opid::http {

class ChunkWriter {
public:
    static constexpr std::string_view after_data = "\r\n";

    // The line to send before `size` bytes of data, which must be followed by after_data. Empty for size 0: then
    // send nothing at all. The view is valid until the next call.
    std::string_view before_data(std::size_t size);

    // Appends one whole chunk; nothing when `data` is empty.
    void append(std::string_view data, std::string& out);

    // The end of the body without trailers; empty when it was written already.
    std::string_view finish();
    // Appends the end of the body with trailers, of which may_be_trailer() refuses some; nothing the second time.
    void finish(const FieldList& trailers, std::string& out);

    bool finished() const { return finished_; }
    void reset() { finished_ = false; }

private:
    std::array<char, 20> line_{};
    bool finished_ = false;
};

}  // namespace opid::http
