#pragma once
// Content-Type (RFC 9110 section 8.3.1).
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opid::http {

struct MediaType {
    std::string type;                                             // lower case
    std::string subtype;                                          // lower case
    std::vector<std::pair<std::string, std::string>> parameters;  // names in lower case, quotes resolved

    std::string essence() const { return type + "/" + subtype; }
    bool is(std::string_view type_and_subtype) const;  // lower case expected
    bool has_suffix(std::string_view suffix) const;    // has_suffix("json"): json itself or anything+json
    std::optional<std::string_view> parameter(std::string_view name) const;  // lower case expected
};

// Nothing when the text is malformed or names one parameter twice (the boundary of a multipart body, for example).
std::optional<MediaType> parse_media_type(std::string_view text);

}  // namespace opid::http
