#pragma once
// Undoes content codings (RFC 9110 section 8.4) within a bound, so that a bomb costs no more than the bound.
#include <cstdint>
#include <string>
#include <string_view>

namespace opid {

enum class DecodeOutcome : std::uint8_t {
    decoded,
    too_large,  // the output, or that of an inner coding, passes the bound
    invalid,    // an unknown coding, a damaged or cut stream, bytes behind its end, more than four codings
};

struct DecodedContent {
    DecodeOutcome outcome = DecodeOutcome::invalid;
    std::string bytes;  // only when decoded
};

// No coding at all, or only "identity": the bytes are the content.
bool is_identity_coding(std::string_view content_coding);

// `content_coding` as in Content-Encoding, in the order of application: gzip, x-gzip, deflate (zlib-wrapped or bare),
// br, identity. Several gzip members make one content. `bytes_max` bounds the output of every step.
DecodedContent decode_content(std::string_view content_coding, std::string_view body, std::size_t bytes_max);

}  // namespace opid
