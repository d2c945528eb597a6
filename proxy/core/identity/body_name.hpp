#pragma once
// An operation's name inside a request body (identity.from: body:/pointer).
#include <optional>
#include <string>

#include "base/result.hpp"
#include "core/identity/key_placement.hpp"

namespace opid {

// The text at the pointer: a JSON member, the form field a[b] for /a/b, or the text of a form-data part. A body is read
// as what it is, not only as what it is called, since a name that the provider would find must not be lost to a wrong
// Content-Type. nullopt: there is none, or JSON null. A JSON number is given as written.
// Errors (invalid): an empty name, two different ones, or a body that can't be read although it is, or may be, of a
// kind that holds names; texts of other kinds hold none.
Result<std::optional<std::string>> name_in_body(const JsonPointer& pointer, const CarrierRequest& request);

}  // namespace opid
