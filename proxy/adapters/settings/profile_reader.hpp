#pragma once
// One file of policies/ into a Profile.
#include <optional>
#include <string_view>

#include "adapters/settings/map_reader.hpp"
#include "core/profile/profile.hpp"

namespace opid {

// `text` is what `root` was read from: the profile's digest is taken over it. Adds problems to reading; what is given
// back is only of use when there were none.
Profile read_profile(const YamlNode& root, std::string_view text, FileReading& reading);

}  // namespace opid
