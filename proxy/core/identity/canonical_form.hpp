#pragma once
// The one text of all bodies that mean the same. FROZEN: digests of these bytes are stored; tests/golden/canonical
// shows them, and a change needs a new version in intent.hpp.
#include <string>
#include <string_view>

#include "core/identity/intent_rules.hpp"

namespace opid {

struct CanonicalBody {
    BodyForm form = BodyForm::raw;  // domain separation: equal bytes of two forms are not equal bodies
    std::string bytes;
    friend bool operator==(const CanonicalBody&, const CanonicalBody&) = default;
};

// `body` with its content codings already undone, `media_type` the Content-Type value as received. Never fails: what
// is not what its media type says, what names a JSON member twice, and what passes the reader's limits is raw.
//
// json:      RFC 8785 order and escaping, exact decimals, no Unicode normalisation; itself JSON text
// jsonrpc:   as json without the envelope's id and MCP's progress token (also chosen by "jsonrpc": "2.0")
// graphql:   as json with the document normalised; a null operationName, variables or extensions is absent
// form:      decoded pairs sorted by name, order kept within a name; "4:name=5:value," or "4:name," without "="
// multipart: parts sorted by name as in a form where it is form-data, else in order; each with its header lines (names
//            in lower case, sorted) and its bytes
CanonicalBody canonical_body(std::string_view media_type, std::string_view body, const IntentRules& rules);

// The document without insignificant white space, commas, comments and byte order marks; tokens are parted by one
// space; strings and block strings stay as written. A text that does not lex is returned as it is.
std::string normal_graphql_document(std::string_view document);

// Media types by RFC 9110 section 8.3.1.
std::string media_essence(std::string_view content_type);  // "type/subtype" in lower case, without parameters
bool is_json_media_type(std::string_view essence);         // application/json, text/json, *+json
bool is_form_media_type(std::string_view essence);
std::string media_parameter(std::string_view content_type, std::string_view name);  // unquoted; "" when absent

const char* to_text(BodyForm form);

}  // namespace opid
