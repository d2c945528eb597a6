#include "core/identity/key_placement.hpp"

#include <fmt/format.h>

#include "core/identity/canonical_form.hpp"
#include "core/identity/content_decoding.hpp"
#include "core/identity/form_fields.hpp"
#include "core/identity/json_reader.hpp"

namespace opid {
namespace {

using Found = std::optional<std::string>;

Error invalid(std::string what) { return Error(ErrorKind::invalid, std::move(what)); }

enum class BodyShape { json, form };

Result<BodyShape> shape_of(const KeyCarrier& carrier, const CarrierRequest& request) {
    if (!is_identity_coding(request.content_coding)) {
        return invalid(
            fmt::format("{} can't be reached in a body with content coding; send it uncompressed", to_text(carrier)));
    }
    const std::string essence = media_essence(request.media_type);
    if (is_form_media_type(essence)) return BodyShape::form;
    if (carrier.kind == KeyCarrier::Kind::form) {
        return invalid(fmt::format("{} needs a body of type application/x-www-form-urlencoded", to_text(carrier)));
    }
    if (essence.empty() || is_json_media_type(essence)) return BodyShape::json;
    return invalid(fmt::format("{} needs a JSON or form body, not {}", to_text(carrier), essence));
}

Result<JsonDocument> document_of(const KeyCarrier& carrier, std::string_view body) {
    auto document = read_json(body);
    if (!document) return invalid(fmt::format("{}: the body is {}", to_text(carrier), document.error().what()));
    if (document->duplicate_at()) {
        return invalid(
            fmt::format("{}: the body names a member twice at byte {}", to_text(carrier), *document->duplicate_at()));
    }
    return document;
}

std::string spliced(std::string_view text, std::size_t begin, std::size_t end, std::string_view middle) {
    std::string result;
    result.reserve(text.size() - (end - begin) + middle.size());
    result.append(text, 0, begin).append(middle).append(text, end);
    return result;
}

// The value with the objects that are missing around it: {"a":{"b":"key"}} for the segments from `from` on.
std::string nested_value(const std::vector<std::string>& segments, std::size_t from, std::string_view value) {
    std::string text;
    for (std::size_t i = from; i < segments.size(); ++i) {
        text.push_back('{');
        append_json_string(text, segments[i]);
        text.push_back(':');
    }
    append_json_string(text, value);
    text.append(segments.size() - from, '}');
    return text;
}

std::string with_new_member(std::string_view body, JsonValue object, const std::vector<std::string>& segments,
                            std::size_t from, std::string_view value) {
    std::string member;
    std::size_t at = object.begin() + 1;
    std::optional<JsonValue> last = object.first();
    while (last) {
        at = last->end();
        const auto next = last->next();
        if (!next) break;
        last = next;
    }
    if (last) member.push_back(',');
    append_json_string(member, segments[from]);
    member.push_back(':');
    member += nested_value(segments, from + 1, value);
    return spliced(body, at, at, member);
}

Result<std::string> place_in_json(const KeyCarrier& carrier, std::string_view value, std::string_view body) {
    const auto document = document_of(carrier, body);
    if (!document) return document.error();
    const auto& segments = carrier.pointer.segments();
    if (segments.empty()) return invalid("the key can't replace the whole body: name a member");
    if (!is_utf8(value)) return invalid("the key is not UTF-8");
    JsonValue at = document->root();
    for (std::size_t i = 0; i < segments.size(); ++i) {
        if (at.is(JsonKind::null) && i > 0) {  // nobody set it: as good as missing
            return spliced(body, at.begin(), at.end(), nested_value(segments, i, value));
        }
        const auto index = at.is(JsonKind::array) ? array_index(segments[i]) : std::nullopt;
        const auto child = index ? at.element(*index) : at.member(segments[i]);
        if (!child && at.is(JsonKind::object)) return with_new_member(body, at, segments, i, value);
        if (!child)
            return invalid(fmt::format("{}: there is no object to put '{}' into", to_text(carrier), segments[i]));
        at = *child;
    }
    return spliced(body, at.begin(), at.end(), nested_value(segments, segments.size(), value));
}

bool is_named(std::string_view text, const FormPair& pair, std::string_view name) {
    const auto decoded = form_decoded(text.substr(pair.begin, pair.name_end - pair.begin));
    return decoded && *decoded == name;
}

// Replaces the first field of that name, takes further ones out, or adds one at the end.
std::string place_in_form(std::string_view name, std::string_view value, std::string_view text) {
    std::string result;
    std::size_t copied = 0;
    bool placed = false;
    for (const FormPair& pair : split_form(text)) {
        if (!is_named(text, pair, name)) continue;
        if (!placed) {
            result.append(text, copied, pair.name_end - copied).append("=").append(percent_encoded(value));
            copied = pair.end;
            placed = true;
        } else {
            result.append(text, copied, pair.begin - 1 - copied);  // with the "&" before it
            copied = pair.end;
        }
    }
    result.append(text, copied);
    if (placed) return result;
    if (!result.empty() && result.back() != '&') result.push_back('&');
    return result.append(percent_encoded(name)).append("=").append(percent_encoded(value));
}

std::string form_field_of(const KeyCarrier& carrier) {
    return carrier.kind == KeyCarrier::Kind::form ? carrier.name : field_name(carrier.pointer);
}

Result<std::string> place_in_body(const KeyCarrier& carrier, std::string_view key, const CarrierRequest& request) {
    const auto shape = shape_of(carrier, request);
    if (!shape) return shape.error();
    if (*shape == BodyShape::json) return place_in_json(carrier, key, request.body);
    return place_in_form(form_field_of(carrier), key, request.body);
}

Status header_can_carry(std::string_view key) {
    for (const char c : key) {
        if (c < ' ' || c > '~') return invalid("the key holds a character that a header can't carry");
    }
    if (key.empty() || key.front() == ' ' || key.back() == ' ')
        return invalid("the key is empty or has blanks at its ends");
    return ok();
}

std::string_view without_mark(std::string_view query) { return query.empty() ? query : query.substr(1); }

Result<Found> read_pairs(std::string_view name, std::string_view text) {
    Found found;
    for (const FormPair& pair : split_form(text)) {
        if (!is_named(text, pair, name)) continue;
        const std::string_view raw = pair.has_value ? text.substr(pair.name_end + 1, pair.end - pair.name_end - 1) : "";
        auto value = form_decoded(raw);
        if (!value) return invalid(fmt::format("the value of '{}' is not well encoded", name));
        if (found && *found != *value) return invalid(fmt::format("'{}' has two different values", name));
        found = std::move(value);
    }
    return found;
}

Result<Found> read_body(const KeyCarrier& carrier, const CarrierRequest& request) {
    const auto shape = shape_of(carrier, request);
    if (!shape) return shape.error();
    if (*shape == BodyShape::form) return read_pairs(form_field_of(carrier), request.body);
    const auto document = document_of(carrier, request.body);
    if (!document) return document.error();
    const auto value = carrier.pointer.resolve(document->root());
    if (!value || value->is(JsonKind::null)) return Found();
    if (value->is(JsonKind::number)) return Found(std::string(value->raw()));
    if (!value->is(JsonKind::string))
        return invalid(fmt::format("{} is neither a string nor a number", to_text(carrier)));
    return Found(value->string());
}

Result<Found> read_header(const KeyCarrier& carrier, std::span<const std::string_view> lines) {
    Found found;
    for (const std::string_view line : lines) {
        if (found && *found != line) return invalid(fmt::format("{} has two different values", to_text(carrier)));
        found = std::string(line);
    }
    return found;
}

Error no_capture(const KeyCarrier& carrier) {
    return invalid(fmt::format("{}: the path does not match '{}'", to_text(carrier), carrier.path_glob));
}

}  // namespace

Result<CarrierChange> place_key(const KeyCarrier& carrier, std::string_view key, const CarrierRequest& request) {
    CarrierChange change;
    switch (carrier.kind) {
        case KeyCarrier::Kind::none: return change;
        case KeyCarrier::Kind::header: {
            const auto fits = header_can_carry(key);
            if (!fits) return fits.error();
            change.header = std::pair(carrier.name, std::string(key));
            return change;
        }
        case KeyCarrier::Kind::body:
        case KeyCarrier::Kind::form: {
            auto body = place_in_body(carrier, key, request);
            if (!body) return body.error();
            change.body = std::move(*body);
            return change;
        }
        case KeyCarrier::Kind::query:
            change.query = "?" + place_in_form(carrier.name, key, without_mark(request.query));
            return change;
        case KeyCarrier::Kind::path: {
            const auto capture = find_path_capture(carrier.path_glob, request.path, carrier.name);
            if (!capture) return no_capture(carrier);
            change.path = spliced(request.path, capture->first, capture->first + capture->second, percent_encoded(key));
            return change;
        }
    }
    return change;
}

namespace {

// Empty where it is there and empty.
Result<Found> read_value(const KeyCarrier& carrier, const CarrierRequest& request,
                         std::span<const std::string_view> header_lines) {
    switch (carrier.kind) {
        case KeyCarrier::Kind::none: return Found();
        case KeyCarrier::Kind::header: return read_header(carrier, header_lines);
        case KeyCarrier::Kind::body:
        case KeyCarrier::Kind::form: return read_body(carrier, request);
        case KeyCarrier::Kind::query: return read_pairs(carrier.name, without_mark(request.query));
        case KeyCarrier::Kind::path: break;
    }
    const auto capture = find_path_capture(carrier.path_glob, request.path, carrier.name);
    if (!capture) return no_capture(carrier);
    std::string escaped(request.path.substr(capture->first, capture->second));
    for (std::size_t at = escaped.find('+'); at != std::string::npos; at = escaped.find('+', at))
        escaped.replace(at, 1, "%2B");
    auto value = form_decoded(escaped);  // in a path "+" stands for itself
    if (!value) return invalid(fmt::format("{} is not well encoded", to_text(carrier)));
    return Found(std::move(*value));
}

}  // namespace

Result<std::optional<std::string>> read_key(const KeyCarrier& carrier, const CarrierRequest& request,
                                            std::span<const std::string_view> header_lines) {
    Result<Found> value = read_value(carrier, request, header_lines);
    if (value && *value && (*value)->empty()) return Found();
    return value;
}

Result<std::optional<std::string>> read_name(const KeyCarrier& carrier, const CarrierRequest& request,
                                             std::span<const std::string_view> header_lines) {
    Result<Found> value = read_value(carrier, request, header_lines);
    if (value && *value && (*value)->empty()) return invalid(fmt::format("{} is empty", to_text(carrier)));
    return value;
}

}  // namespace opid
