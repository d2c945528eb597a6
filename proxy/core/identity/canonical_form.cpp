#include "core/identity/canonical_form.hpp"

#include <algorithm>

#include "core/identity/canonical_json.hpp"
#include "core/identity/form_fields.hpp"
#include "core/identity/multipart_parts.hpp"

namespace opid {
namespace {

CanonicalBody raw(std::string_view body) { return CanonicalBody{BodyForm::raw, std::string(body)}; }

CanonicalBody json_body(std::string_view body, const IntentRules& rules, BodyForm form) {
    const auto document = read_json(body);
    if (!document || document->duplicate_at()) return raw(body);
    if (!rules.body_form && looks_like_jsonrpc(*document)) form = BodyForm::jsonrpc;
    return CanonicalBody{form, canonical_json(*document, rules, form)};
}

void sort_by_name(std::vector<BodyField>& fields) {
    std::stable_sort(fields.begin(), fields.end(),
                     [](const BodyField& a, const BodyField& b) { return a.name < b.name; });
}

CanonicalBody form_body(std::string_view body, const IntentRules& rules) {
    auto fields = form_fields(body);
    if (!fields) return raw(body);
    apply_rules(*fields, rules);
    sort_by_name(*fields);
    CanonicalBody canonical{BodyForm::form, {}};
    for (const auto& field : *fields) canonical.bytes += encode_form_field(field);
    return canonical;
}

CanonicalBody multipart_body(std::string_view media_type, std::string_view body, const IntentRules& rules) {
    auto parts = multipart_fields(media_type, body);
    if (!parts) return raw(body);
    apply_rules(*parts, rules);
    // As in a form; clients that build theirs from a map send it in another order each time.
    if (media_essence(media_type) == "multipart/form-data") sort_by_name(*parts);
    CanonicalBody canonical{BodyForm::multipart, {}};
    for (const auto& part : *parts) canonical.bytes += encode_part(part);
    return canonical;
}

// The document alone is the body (application/graphql).
CanonicalBody bare_graphql_document(std::string_view body) {
    if (!is_utf8(body)) return raw(body);
    CanonicalBody canonical{BodyForm::graphql, "{\"query\":"};
    append_json_string(canonical.bytes, normal_graphql_document(body));
    canonical.bytes.push_back('}');
    return canonical;
}

BodyForm form_by_media_type(std::string_view essence) {
    if (is_json_media_type(essence)) return BodyForm::json;
    if (is_form_media_type(essence)) return BodyForm::form;
    if (essence.substr(0, 10) == "multipart/") return BodyForm::multipart;
    if (essence == "application/graphql") return BodyForm::graphql;
    return BodyForm::raw;
}

}  // namespace

CanonicalBody canonical_body(std::string_view media_type, std::string_view body, const IntentRules& rules) {
    const std::string essence = media_essence(media_type);
    const BodyForm by_media_type = form_by_media_type(essence);
    const BodyForm form = rules.body_form.value_or(by_media_type);
    switch (form) {
        case BodyForm::raw: return raw(body);
        case BodyForm::json:
        case BodyForm::jsonrpc: return json_body(body, rules, form);
        case BodyForm::graphql:
            if (by_media_type == BodyForm::graphql) return bare_graphql_document(body);
            return json_body(body, rules, form);
        case BodyForm::form: return form_body(body, rules);
        case BodyForm::multipart: return multipart_body(media_type, body, rules);
    }
    return raw(body);
}

}  // namespace opid
