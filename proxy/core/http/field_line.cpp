#include "core/http/field_line.hpp"

#include "core/http/octets.hpp"

namespace opid::http {
namespace {

FieldLine fault(std::string_view detail) { return {LineKind::fault, nullptr, {}, detail}; }

// Why a byte can't follow a field name; kept off the fast path.
FieldLine name_fault(const char* line, const char* at) {
    if (at == line && is_blank(*at)) return fault("A field line begins with a blank; folded lines are not accepted.");
    if (at == line && *at == ':') return fault("A field has no name.");
    if (is_blank(*at)) return fault("There is a blank before the colon of a field.");
    if (*at == '\r' || *at == '\n') return fault("A field line has no colon.");
    return fault("A field name holds a byte that is not allowed.");
}

FieldLine blank_line(const char* at, const char* end) {
    if (*at == '\n') return fault("A line ends in a lone LF.");
    if (end - at < 2) return {};
    if (at[1] != '\n') return fault("A CR is not followed by LF.");
    return {LineKind::blank, at + 2, {}, {}};
}

}  // namespace

FieldLine read_field_line(const char* at, const char* end, NameBlanks blanks) {
    if (at == end) return {};
    if (*at == '\r' || *at == '\n') return blank_line(at, end);
    const char* const line = at;
    at = skip_token(at, end);
    if (at == end) return {};
    const std::string_view name = span_of(line, at);
    if (blanks == NameBlanks::strip && !name.empty()) {
        while (at != end && is_blank(*at)) ++at;
        if (at == end) return {};
    }
    if (*at != ':' || name.empty()) return name_fault(line, at);
    ++at;
    while (at != end && is_blank(*at)) ++at;
    const char* const value = at;
    at = skip_value(at, end);
    if (at == end) return {};
    if (*at != '\r') {
        if (*at == '\n') return fault("A line ends in a lone LF.");
        return fault("A field value holds a control byte.");
    }
    if (end - at < 2) return {};
    if (at[1] != '\n') return fault("A CR is not followed by LF.");
    const char* last = at;
    while (last != value && is_blank(last[-1])) --last;
    return {LineKind::field, at + 2, {name, span_of(value, last)}, {}};
}

}  // namespace opid::http
