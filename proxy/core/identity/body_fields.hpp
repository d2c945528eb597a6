#pragma once
// Named fields of a form or a multipart body, and what rules do to them.
#include <string>
#include <string_view>
#include <vector>

#include "core/identity/intent_rules.hpp"

namespace opid {

struct BodyField {
    std::string name;               // decoded
    std::vector<std::string> path;  // the name as a pointer: a[b][] is /a/b/ (and a name without brackets one segment)
    std::string value;
    bool has_value = true;  // "a" and "a=" are two things
    bool is_text = true;    // false for files: they are never normalised
    std::string headers;    // multipart: the part's encoded header lines
};

// a[b][0] -> a, b, 0. A name that is not of that shape is one segment.
std::vector<std::string> field_path(std::string_view name);
// /a/b -> a[b], the field that a pointer means in a form.
std::string field_name(const JsonPointer& pointer);
// The pointer by which differences name a field; the empty brackets of a list are left out.
std::string field_pointer(const BodyField& field);

// Leaves out what is ignored or carries a key, normalises values, and sorts the values of each set within the places
// that they have. `integer_is_minor` in money: text without a point.
void apply_rules(std::vector<BodyField>& fields, const IntentRules& rules);

}  // namespace opid
