#pragma once
// Small files that must be whole and must last: written beside, synced, renamed, and the folder synced.
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace opid {

// Replaces the file. unavailable: it is as it was.
Status write_durably(const std::string& path, std::string_view text, unsigned mode);

// Makes the file unless it is there; false: it was. Its whole text and mode are there the moment that it is.
Result<bool> create_durably(const std::string& path, std::string_view text, unsigned mode);

// The text of a file of at most bytes_max, without line ends at its end. not_found: it isn't there.
Result<std::string> read_small_file(const std::string& path, std::size_t bytes_max);

}  // namespace opid
