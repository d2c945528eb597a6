#pragma once
// One field line (RFC 9112 section 5), read strictly. Shared by request heads, response heads and trailers.
#include <cstdint>
#include <string_view>

#include "core/http/fields.hpp"

namespace opid::http {

enum class LineKind : std::uint8_t {
    field,
    blank,      // the empty line that ends the section
    need_more,  // the line isn't complete
    fault,
};

enum class NameBlanks : bool { refuse, strip };  // blanks between name and colon: requests refuse, responses strip

struct FieldLine {
    LineKind kind = LineKind::need_more;
    const char* next = nullptr;  // behind the line (field and blank)
    Field field;
    std::string_view fault;
};

FieldLine read_field_line(const char* at, const char* end, NameBlanks blanks);

}  // namespace opid::http
