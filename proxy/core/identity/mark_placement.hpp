#pragma once
// Puts the operation's mark into a body, where a later look-up at the provider finds it.
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/identity/json_pointer.hpp"
#include "core/identity/key_placement.hpp"

namespace opid {

// The body with `mark` at `pointer`, placed as place_key() places a body key; a value that is there is replaced.
Result<std::string> place_mark(const JsonPointer& pointer, std::string_view mark, const CarrierRequest& request);

}  // namespace opid
