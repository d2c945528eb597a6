#include "adapters/http/guarded_request.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/encoding.hpp"
#include "core/http/hop_by_hop.hpp"
#include "core/identity/body_name.hpp"
#include "core/identity/content_decoding.hpp"
#include "core/identity/key_placement.hpp"

namespace opid {

namespace {

void split_target(std::string_view target, std::string_view& path, std::string_view& query) {
    const std::size_t mark = target.find('?');
    path = target.substr(0, mark);
    query = mark == std::string_view::npos ? std::string_view() : target.substr(mark);
}

void add_line(std::string& lines, std::string_view name, std::string_view value) {
    lines.append(name).append(": ").append(value).append("\r\n");
}

bool stays_behind(const http::RequestHead& head, std::string_view name) {
    if (http::is_hop_by_hop(name) || http::is_operation_field(name)) return true;
    for (const std::string_view own : {"host", "content-length", "expect", "trailer"}) {
        if (equal_ignoring_case(name, own)) return true;
    }
    return head.has_connection_option(name) && !http::is_protected(name);
}

Result<std::optional<OperationId>> from_text(const IdentitySource& source, const CarrierRequest& request) {
    Result<std::optional<std::string>> text{std::optional<std::string>()};
    if (source.kind == IdentitySource::Kind::query) {
        KeyCarrier carrier;
        carrier.kind = KeyCarrier::Kind::query;
        carrier.name = source.name;
        text = read_name(carrier, request, {});
    } else {
        const auto pointer = JsonPointer::parse(source.name);
        if (!pointer) return pointer.error();
        text = name_in_body(*pointer, request);
    }
    if (!text) return text.error();
    if (!*text) return std::optional<OperationId>();
    Result<OperationId> id = operation_id_from_text(**text);
    if (!id) return id.error();
    return std::optional<OperationId>(std::move(*id));
}

}  // namespace

Result<RequestIdentity> find_identity(const Rule& rule, const http::FieldList& fields, std::string_view target,
                                      std::optional<std::string_view> body) {
    RequestIdentity identity;
    CarrierRequest request;
    split_target(target, request.path, request.query);
    request.media_type = fields.get("content-type").value_or("");
    if (body) request.body = *body;
    for (const IdentitySource& source : rule.identity.from) {
        Result<std::optional<OperationId>> found{std::optional<OperationId>()};
        if (source.kind == IdentitySource::Kind::header) {
            const std::vector<std::string_view> lines = fields.values(source.name);
            if (lines.empty()) continue;
            found = parse_operation_id(source.name, lines);
        } else if (source.kind == IdentitySource::Kind::body && !body) {
            identity.body_undecided = true;  // an earlier source wins, so later ones have to wait
            break;
        } else {
            found = from_text(source, request);
        }
        if (!found) return found.error();
        if (!*found) continue;
        identity.id = std::move(**found);
        identity.native_key = !source.is_operation_id();
        break;
    }
    const std::vector<std::string_view> lines = fields.values("operation-step");
    if (lines.empty()) return identity;
    Result<std::optional<StepReference>> step = parse_step_reference("Operation-Step", lines);
    if (!step) return step.error();
    identity.step = std::move(*step);
    // SDKs make a native key of their own for every call; the step is what the caller means.
    if (identity.step && identity.native_key) {
        identity.id.reset();
        identity.native_key = false;
    }
    return identity;
}

std::string forwarded_fields(const http::RequestHead& head, const ForwardedFields& options) {
    std::string lines;
    const bool inject = options.credentials != nullptr && options.credentials->inject;
    for (const http::Field& field : head.fields) {
        if (stays_behind(head, field.name)) continue;
        if (inject && equal_ignoring_case(field.name, options.credentials->header)) continue;
        if (!options.forwarded_for.empty() && equal_ignoring_case(field.name, "x-forwarded-for")) continue;
        add_line(lines, field.name, field.value);
    }
    if (inject) add_line(lines, options.credentials->header, options.credentials->value.reveal());
    if (!options.forwarded_for.empty()) add_line(lines, "X-Forwarded-For", options.forwarded_for);
    if (!options.via.empty()) {
        add_line(lines, "Via", std::string(head.minor == 0 ? "1.0 " : "1.1 ") + std::string(options.via));
    }
    return lines;
}

Intent make_intent(const http::RequestHead& head, const Route& route, const Rule& rule, std::string_view body) {
    Intent intent;
    intent.method = std::string(head.method);
    intent.scheme_authority = std::string(route.origin.tls ? "https://" : "http://") + route.authority;
    std::string_view path;
    std::string_view query;
    split_target(route.target, path, query);
    intent.path = std::string(path);
    intent.query = std::string(query);
    std::vector<std::pair<std::string, std::string>> fields;
    fields.reserve(head.fields.size());
    for (const http::Field& field : head.fields) {
        if (!stays_behind(head, field.name)) fields.emplace_back(field.name, field.value);
    }
    intent.headers = select_headers(fields, rule.intent);
    intent.media_type = std::string(head.fields.get("content-type").value_or(""));
    intent.content_coding = head.fields.joined("content-encoding");
    intent.body = std::string(body);
    return intent;
}

std::vector<std::string> caller_keys(const Rule& rule, const http::FieldList& fields, const Intent& intent) {
    std::vector<std::string> keys;
    if (!rule.key.present()) return keys;
    const KeyCarrier& carrier = rule.key.carrier;
    if (carrier.kind == KeyCarrier::Kind::header) {
        for (const std::string_view value : fields.values(carrier.name)) keys.emplace_back(value);
        return keys;
    }
    const CarrierRequest request{intent.path, intent.query, intent.media_type, intent.content_coding, intent.body};
    const Result<std::optional<std::string>> key = read_key(carrier, request, {});
    if (key && *key) keys.push_back(**key);
    return keys;
}

std::optional<Millis> requested_wait(const http::FieldList& fields) {
    const auto text = fields.get("operation-wait");
    if (!text) return std::nullopt;
    std::uint32_t seconds = 0;
    const char* const end = text->data() + text->size();
    const auto read = std::from_chars(text->data(), end, seconds);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
    return Millis{static_cast<Millis::rep>(seconds) * 1000};
}

Result<std::string_view> content_of(const http::FieldList& fields, std::string_view body, std::size_t bytes_max,
                                    std::string& room) {
    const std::string coding = fields.joined("content-encoding");
    if (is_identity_coding(coding) || body.empty()) return body;
    DecodedContent content = decode_content(coding, body, bytes_max);
    switch (content.outcome) {
        case DecodeOutcome::decoded: room = std::move(content.bytes); return std::string_view(room);
        case DecodeOutcome::too_large: return Error(ErrorKind::invalid, "it decodes to more than limits.decoded_body");
        case DecodeOutcome::invalid: break;
    }
    return Error(ErrorKind::invalid, "its content coding can't be undone");
}

bool reads_a_trailer(const Rule& rule, const http::FieldList& trailers) {
    const auto is = [](std::string_view name) {
        return [name](const http::Field& field) { return equal_ignoring_case(field.name, name); };
    };
    const auto among = [&](std::string_view name) { return std::any_of(trailers.begin(), trailers.end(), is(name)); };
    for (const IdentitySource& source : rule.identity.from) {
        if (source.kind == IdentitySource::Kind::header && among(source.name)) return true;
    }
    for (const std::string& name : rule.intent.headers) {
        if (among(name)) return true;
    }
    for (const auto& [name, predicate] : rule.match.header) {
        if (among(name)) return true;
    }
    const KeyCarrier& carrier = rule.key.carrier;
    if (carrier.kind == KeyCarrier::Kind::header && among(carrier.name)) return true;
    return std::any_of(trailers.begin(), trailers.end(), [](const http::Field& field) {
        return http::is_operation_field(field.name) || equal_ignoring_case(field.name, "authorization");
    });
}

}  // namespace opid
