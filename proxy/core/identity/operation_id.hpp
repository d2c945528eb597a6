#pragma once
// The caller's names: an operation ID, and the step reference that stands in for one. Both come in header lines.
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/strong.hpp"

namespace opid {

using OperationId = Strong<struct OperationIdTag, std::string>;      // 1 to 255 visible ASCII characters
using StepReference = Strong<struct StepReferenceTag, std::string>;  // the same alphabet and length

constexpr std::size_t operation_id_chars_max = 255;

// Parses the values of all header lines of one name, in order. No line: nullopt.
// A value is bare visible ASCII, or an RFC 9651 string whose parameters are ignored; both name the same ID. A line
// may hold a list: bare members are parted by a comma with a blank beside it (what an intermediary writes when it
// joins lines; a comma alone belongs to the ID), strings by any comma. Equal values collapse into one.
// Errors (invalid, answered with 400): empty, a blank, control or non-ASCII character, over 255 characters, a broken
// string, two different values. The text names `field` and tells the caller what to send instead.
Result<std::optional<OperationId>> parse_operation_id(std::string_view field, std::span<const std::string_view> lines);
Result<std::optional<StepReference>> parse_step_reference(std::string_view field,
                                                          std::span<const std::string_view> lines);

// An ID that comes as plain text (a body member, a query value, an admin call): no quoting, no lists.
Result<OperationId> operation_id_from_text(std::string_view text);

}  // namespace opid
