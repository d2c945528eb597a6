#pragma once
// Files that are part of the binary.
#include <string_view>

namespace opid {

std::string_view openapi_json();
std::string_view index_html();

}  // namespace opid
