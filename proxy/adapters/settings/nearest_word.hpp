#pragma once
// Which known word somebody meant who wrote another one.
#include <string>
#include <string_view>
#include <vector>

namespace opid {

// The known word with the fewest edits (insert, delete, change, swap of neighbours), if these are no more than a
// third of its letters and at least one; empty: none is near. Case and '-' for '_' cost nothing.
std::string nearest_word(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace opid
