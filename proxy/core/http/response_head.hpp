#pragma once
// The head of an HTTP/1.1 response (RFC 9112 sections 4 and 6.3). Refusals are always 502 upstream-invalid.
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/http/fields.hpp"
#include "core/http/framing.hpp"
#include "core/http/head_limits.hpp"
#include "core/http/head_parse.hpp"

namespace opid::http {

// All views point into the parsed bytes and die with them.
struct ResponseHead {
    std::uint16_t status = 0;  // 100 to 999
    std::string_view reason;   // may be empty
    std::uint8_t minor = 1;
    FieldList fields;          // blanks between a name and its colon are taken off (RFC 9112 section 5.1)
    Framing framing;           // of the body on this connection; HEAD, 1xx, 204, 304 and 2xx to CONNECT have none
    bool reusable = true;      // whether the connection may carry another exchange once the body was read
    bool coded = false;        // a transfer coding other than chunked: relay the field and the bytes as they are
    bool drop_length = false;  // Content-Length contradicts Transfer-Encoding and must not be passed on
    std::vector<std::string_view> connection_options;

    bool interim() const { return status < 200 && status != 101; }  // another head follows
    bool has_connection_option(std::string_view name) const;
    void clear();  // keeps capacities
};

// Reads one response head from the start of `bytes`. `request_method` is that of the request it answers: HEAD and
// CONNECT change what follows. Called in a loop while interim() (bounded by limits.interim_responses, which the
// caller counts). need_more works as in parse_request_head.
HeadParse parse_response_head(std::string_view bytes, const HeadLimits& limits, std::string_view request_method,
                              ResponseHead& out, HeadProgress& progress);
HeadParse parse_response_head(std::string_view bytes, const HeadLimits& limits, std::string_view request_method,
                              ResponseHead& out);

}  // namespace opid::http
