#pragma once
// Files and references that configuration names.
#include <optional>
#include <string>

#include "adapters/settings/map_reader.hpp"
#include "base/secret.hpp"

namespace opid {

// The whole text of a regular file of at most bytes_max. nullopt: `error` says what is wrong with it.
std::optional<std::string> read_file(const std::string& path, std::size_t bytes_max, std::string& error);

// Where a relative path leads: from `folder` if something is there, else from the working directory if something is
// there. nullopt: neither.
std::optional<std::string> locate(const std::string& path, const std::string& folder);

// env:NAME or file:PATH. A literal is a problem, and so is what is not there or empty; no problem tells a value.
// A file's text loses its line end.
std::optional<Secret> read_secret(const YamlNode& node, const std::string& path, FileReading& reading);

// file:PATH of a file that is there; its path.
std::optional<std::string> read_file_reference(const YamlNode& node, const std::string& path, FileReading& reading);

std::string folder_of(const std::string& file);  // empty: the working directory

}  // namespace opid
