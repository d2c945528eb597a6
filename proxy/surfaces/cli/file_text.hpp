#pragma once
// Whole files that the command line names or that lie in the data folder.
#include <optional>
#include <string>

namespace opid {

std::optional<std::string> file_text(const std::string& path);  // nothing: it can't be read

}  // namespace opid
