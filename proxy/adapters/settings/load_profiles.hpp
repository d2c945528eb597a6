#pragma once
// policies/*.yaml into a ProfileSet. All or nothing: one bad file, and nothing of the set comes into force.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/settings/load_settings.hpp"
#include "adapters/settings/problem.hpp"
#include "core/profile/profile_set.hpp"

namespace opid {

struct LoadedProfiles {
    std::optional<ProfileSet> profiles;  // only without problems
    std::vector<SettingsProblem> problems;
};

// Files, and folders whose *.yaml and *.yml are read in order of their names (not those below them).
LoadedProfiles load_profiles(const std::vector<std::string>& paths, const SettingsSources& sources = {});

struct ProfileText {
    std::string file;
    std::string text;
};
LoadedProfiles load_profile_texts(const std::vector<ProfileText>& texts, const SettingsSources& sources = {});

}  // namespace opid
