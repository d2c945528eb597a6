// Content-Type values.
#include "base/encoding.hpp"
#include "core/identity/canonical_form.hpp"

namespace opid {
namespace {

bool ends_with(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Moves `at` behind a quoted-string that begins there and gives its content.
std::string quoted_string(std::string_view text, std::size_t& at) {
    std::string content;
    for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\' && at + 1 < text.size()) ++at;
        content.push_back(text[at]);
    }
    if (at < text.size()) ++at;
    return content;
}

}  // namespace

std::string media_essence(std::string_view content_type) {
    return ascii_lower(trim_blank(content_type.substr(0, content_type.find(';'))));
}

bool is_json_media_type(std::string_view essence) {
    return essence == "application/json" || essence == "text/json" || ends_with(essence, "+json");
}

bool is_form_media_type(std::string_view essence) { return essence == "application/x-www-form-urlencoded"; }

std::string media_parameter(std::string_view content_type, std::string_view name) {
    std::size_t at = content_type.find(';');
    while (at < content_type.size()) {
        ++at;
        const std::size_t name_end = std::min(content_type.find_first_of("=;", at), content_type.size());
        const std::string_view found = trim_blank(content_type.substr(at, name_end - at));
        at = name_end;
        std::string value;
        if (at < content_type.size() && content_type[at] == '=') {
            ++at;
            if (at < content_type.size() && content_type[at] == '"') {
                value = quoted_string(content_type, at);
                at = std::min(content_type.find(';', at), content_type.size());
            } else {
                const std::size_t end = std::min(content_type.find(';', at), content_type.size());
                value = trim_blank(content_type.substr(at, end - at));
                at = end;
            }
        }
        if (equal_ignoring_case(found, name)) return value;
    }
    return {};
}

const char* to_text(BodyForm form) {
    switch (form) {
        case BodyForm::raw: return "raw";
        case BodyForm::json: return "json";
        case BodyForm::form: return "form";
        case BodyForm::multipart: return "multipart";
        case BodyForm::graphql: return "graphql";
        case BodyForm::jsonrpc: return "jsonrpc";
    }
    return "raw";
}

}  // namespace opid
