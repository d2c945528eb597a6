#pragma once
// The head of an HTTP/1.1 request (RFC 9112 sections 2 to 6), with every decision that follows from it alone. One
// malformed or ambiguous byte refuses the whole request: nothing that two parsers might read differently gets
// past this point. Pure; no allocation once the vectors of a reused RequestHead have grown.
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/http/fields.hpp"
#include "core/http/framing.hpp"
#include "core/http/head_limits.hpp"
#include "core/http/head_parse.hpp"

namespace opid::http {

enum class TargetForm : std::uint8_t {
    origin,     // /path?query
    absolute,   // http://host/path?query
    authority,  // host:port, CONNECT only
    asterisk,   // *, OPTIONS only
};

// All views point into the parsed bytes and die with them.
struct RequestHead {
    std::string_view method;  // case-sensitive: `get` is not GET
    std::string_view target;  // as received, byte for byte
    TargetForm form = TargetForm::origin;
    std::string_view scheme;     // absolute form: `http` or `https` in the sender's case, else empty
    std::string_view authority;  // effective host[:port]: the target's, else Host's, else empty. Syntax checked
    std::string_view path;       // path and query. Empty or beginning with `?` when an absolute form has no path;
                                 // empty in authority form
    std::uint8_t minor = 1;      // HTTP/1.0 is 0; 1.1 to 1.9 are 1
    FieldList fields;
    Framing framing;                                   // none, length or chunked
    bool keep_alive = true;                            // whether the client lets the connection serve further requests
    bool expect_continue = false;                      // HTTP/1.1 with Expect: 100-continue
    std::vector<std::string_view> connection_options;  // elements of all Connection lines
    std::vector<std::string_view> upgrades;  // elements of Upgrade; empty unless Connection lists upgrade and the
                                             // request is HTTP/1.1
    bool is_connect() const { return form == TargetForm::authority; }
    bool has_connection_option(std::string_view name) const;
    bool offers_upgrade(std::string_view protocol) const;  // ignoring case
    void clear();                                          // keeps capacities
};

// Reads one request head from the start of `bytes`, ignoring blank lines before it (RFC 9112 section 2.2). With
// need_more, call again with the same bytes and more behind them (the buffer may move) and the same `progress`.
// A fault is refused as soon as its line is complete, a line that ends in a lone LF at once; `out` is whole only
// after complete. After a refusal with close=true no further byte of the connection may be interpreted.
HeadParse parse_request_head(std::string_view bytes, const HeadLimits& limits, RequestHead& out,
                             HeadProgress& progress);
HeadParse parse_request_head(std::string_view bytes, const HeadLimits& limits, RequestHead& out);

}  // namespace opid::http
