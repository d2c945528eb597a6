#pragma once
// RFC 2046 multipart bodies as fields, whatever the boundary is called.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/identity/body_fields.hpp"

namespace opid {

// The parts in order; text before the first and behind the last delimiter counts as a part without a name.
// A part that is itself multipart has the encoding of its own parts as value (four levels, then its bytes).
// nullopt where the body is not strictly of that shape (no boundary, no end, bare LF, a header line without colon,
// other text on a delimiter's line).
std::optional<std::vector<BodyField>> multipart_fields(std::string_view content_type, std::string_view body);
std::string encode_part(const BodyField& part);

}  // namespace opid
