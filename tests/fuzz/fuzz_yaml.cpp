// Any bytes as a configuration and as a profile: problems or a value, never a crash, never much time.
#include <cstddef>
#include <cstdint>
#include <string>

#include "adapters/settings/load_profiles.hpp"
#include "adapters/settings/load_settings.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    opid::SettingsSources sources;
    sources.environment = [](const std::string&) { return std::optional<std::string>("value"); };
    const auto settings = opid::load_settings_text(text, "fuzz.yaml", sources);
    if (settings.settings.has_value() != settings.problems.empty()) __builtin_trap();
    const auto profiles = opid::load_profile_texts({{"fuzz.yaml", text}}, sources);
    if (profiles.profiles.has_value() != profiles.problems.empty()) __builtin_trap();
    opid::to_text(settings.problems);
    opid::to_text(profiles.problems);
    return 0;
}
