#include "core/identity/body_name.hpp"

#include <fmt/format.h>

#include "core/identity/body_fields.hpp"
#include "core/identity/canonical_form.hpp"
#include "core/identity/json_reader.hpp"
#include "core/identity/multipart_parts.hpp"

namespace opid {
namespace {

using Name = std::optional<std::string>;

Error invalid(std::string what) { return {ErrorKind::invalid, std::move(what)}; }

std::string_view without_byte_order_mark(std::string_view body) {
    static constexpr std::string_view mark = "\xEF\xBB\xBF";
    return body.starts_with(mark) ? body.substr(mark.size()) : body;
}

bool looks_like_an_object(std::string_view body) {
    const std::size_t first = body.find_first_not_of(" \t\r\n");
    return first != std::string_view::npos && body[first] == '{';
}

Result<Name> name_in_parts(const JsonPointer& pointer, const CarrierRequest& request) {
    const auto parts = multipart_fields(request.media_type, request.body);
    if (!parts) return invalid("the body is no well-formed form-data");
    const std::string wanted = field_name(pointer);
    Name found;
    for (const BodyField& part : *parts) {
        if (part.name != wanted || !part.is_text) continue;
        if (part.value.empty()) return invalid(fmt::format("the part '{}' is empty", wanted));
        if (found && *found != part.value) return invalid(fmt::format("'{}' has two different values", wanted));
        found = part.value;
    }
    return found;
}

}  // namespace

Result<Name> name_in_body(const JsonPointer& pointer, const CarrierRequest& request) {
    if (request.body.empty()) return Name();
    KeyCarrier carrier;
    carrier.kind = KeyCarrier::Kind::body;
    carrier.pointer = pointer;
    const std::string essence = media_essence(request.media_type);
    CarrierRequest as_json = request;
    as_json.media_type = "application/json";
    as_json.body = without_byte_order_mark(request.body);
    const bool object = looks_like_an_object(as_json.body);
    if (is_form_media_type(essence)) {
        if (object) {
            Result<Name> name = read_name(carrier, as_json, {});
            if (name && *name) return name;
        }
        return read_name(carrier, request, {});
    }
    if (essence == "multipart/form-data") return name_in_parts(pointer, request);
    if (essence.empty() || is_json_media_type(essence)) return read_name(carrier, as_json, {});
    // Lines of JSON, a template: what only begins like an object holds no name.
    if (object && read_json(as_json.body)) return read_name(carrier, as_json, {});
    return Name();
}

}  // namespace opid
