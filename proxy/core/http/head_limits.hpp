#pragma once
// Bounds on everything of an HTTP/1.1 message that is not body data. The defaults are those of `limits` in the
// configuration; every reader takes them by reference and none keeps more memory than they allow.
#include <cstddef>
#include <cstdint>

namespace opid::http {

struct HeadLimits {
    std::size_t head_bytes = 60 * 1024;    // start line, fields and the blank line
    std::size_t fields = 512;              // field lines in a head; the same bound holds for trailers
    std::size_t target_bytes = 16 * 1024;  // request target
    std::size_t method_bytes = 64;
    std::size_t leading_blank_lines = 8;              // CRLFs before a request line that are ignored
    std::size_t chunk_extension_bytes = 8 * 1024;     // of one chunk
    std::size_t message_extension_bytes = 64 * 1024;  // of all chunks of a message together
    std::size_t chunk_overhead_bytes = 64 * 1024;     // framing bytes beyond 16 a chunk plus twice its data
    std::size_t trailer_bytes = 60 * 1024;            // trailer section with its blank line
    std::uint32_t interim_responses = 32;             // 1xx before one final response
};

}  // namespace opid::http
