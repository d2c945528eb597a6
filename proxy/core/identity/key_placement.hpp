#pragma once
// Puts a provider key into a request, or reads the caller's own from it. Every other byte stays as the client sent it.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "core/identity/key_carrier.hpp"

namespace opid {

// Views of the parts of a request that a carrier may touch.
struct CarrierRequest {
    std::string_view path;
    std::string_view query;           // with the leading "?"; empty when there is none
    std::string_view media_type;      // Content-Type as received
    std::string_view content_coding;  // Content-Encoding as received
    std::string_view body;
};

// What to change: an absent part stays as it is.
struct CarrierChange {
    // Remove every header line of this name (any case), then add exactly this one.
    std::optional<std::pair<std::string, std::string>> header;
    std::optional<std::string> path;
    std::optional<std::string> query;  // with the leading "?"
    std::optional<std::string> body;   // the new Content-Length is its size
};

// header: the one line. body: the JSON member is replaced, or inserted with the parent objects that are missing; in a
// form body /a/b is the field a[b]. form, query: the first field of that name is replaced and further ones are taken
// out, or one is added at the end. path: the captured segment is replaced, percent-encoded. none: no change.
// Errors (invalid): the body is content-coded, not JSON or a form, names a member twice, or a parent of the pointer is
// no object; the path has no such capture; the key holds bytes that a header can't carry.
Result<CarrierChange> place_key(const KeyCarrier& carrier, std::string_view key, const CarrierRequest& request);

// The caller's own value at the carrier; absent, empty or JSON null: nullopt. `header_lines`: the values of all lines
// of the carrier's header. A JSON number is given as written.
// Errors (invalid): two different values, a value that is no string or number, and as above.
Result<std::optional<std::string>> read_key(const KeyCarrier& carrier, const CarrierRequest& request,
                                            std::span<const std::string_view> header_lines);

// The same for a name that the request must not lose: a value that is there and empty is an error, too (invalid).
Result<std::optional<std::string>> read_name(const KeyCarrier& carrier, const CarrierRequest& request,
                                             std::span<const std::string_view> header_lines);

}  // namespace opid
