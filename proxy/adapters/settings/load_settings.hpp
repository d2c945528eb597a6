#pragma once
// config/opid.yaml into Settings: every key known, every value typed, every problem told at once.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/settings/problem.hpp"
#include "adapters/settings/settings.hpp"

namespace opid {

// What loading asks of its surroundings; tests put their own in.
struct SettingsSources {
    // The value of an environment variable; nullopt where it is not set. Default: the process's own.
    std::function<std::optional<std::string>(const std::string& name)> environment;
};

struct LoadedSettings {
    std::optional<Settings> settings;  // only without problems
    std::vector<SettingsProblem> problems;
};

// Relative paths: `policies` and file: references are taken from the folder of the configuration file if something is
// there, else from the working directory (so `policies: [policies]` in config/opid.yaml finds the folder beside
// config/ when opid is started there); `data` always from the working directory.
LoadedSettings load_settings(const std::string& file, const SettingsSources& sources = {});
LoadedSettings load_settings_text(std::string_view text, const std::string& file, const SettingsSources& sources = {});

// The file to read: `given` (--config) if not empty, else the first of ./config/opid.yaml and /etc/opid/opid.yaml
// that is there, else nothing: defaults hold.
std::optional<std::string> find_settings_file(const std::string& given);

// "1500ms", "30s", "5m", "2h", "30d"; nullopt: not that, or too large.
std::optional<Millis> parse_duration(std::string_view text);
std::string format_duration(Millis duration);  // in the largest unit that divides it
// "0", "512B", "60KiB", "16MiB", "2GiB"; without a unit: bytes.
std::optional<std::uint64_t> parse_size(std::string_view text);

}  // namespace opid
