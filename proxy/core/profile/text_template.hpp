#pragma once
// Templates of look-ups: {operation_id}, {provider_key}, {path:name}, {request:/pointer}. "{{" and "}}" are braces.
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/identity/json_pointer.hpp"
#include "core/profile/path_glob.hpp"

namespace opid {

struct TemplateValues {
    std::string_view operation_id;
    std::string_view provider_key;
    const PathCaptures* captures = nullptr;
    std::string_view media_type;  // of the request body: JSON or a form can be pointed into
    std::string_view body;        // decoded
};

enum class TemplateUse : unsigned char {
    plain,   // values as they are
    target,  // values percent-encoded so that each stays inside its path segment or query value
};

class TextTemplate {
public:
    // Error (invalid): an unknown name, an open brace, a bad pointer.
    static Result<TextTemplate> parse(std::string_view text);

    // Error (invalid): a value that the request does not have (or that is no string, number or boolean); then the
    // look-up can't be made.
    Result<std::string> expand(const TemplateValues& values, TemplateUse use) const;
    std::vector<std::string> captures() const;  // names of {path:name}
    bool has_placeholder() const;

private:
    enum class Kind : unsigned char { text, operation_id, provider_key, path, request };
    struct Part {
        Kind kind = Kind::text;
        std::string text;
        JsonPointer pointer;
    };
    std::vector<Part> parts_;
};

}  // namespace opid
