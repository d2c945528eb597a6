#include "adapters/settings/load_settings.hpp"

#include <filesystem>

#include "adapters/settings/files.hpp"
#include "adapters/settings/map_reader.hpp"
#include "adapters/settings/settings_reader.hpp"

namespace opid {

LoadedSettings load_settings_text(std::string_view text, const std::string& file, const SettingsSources& sources) {
    LoadedSettings loaded;
    const YamlNode root = read_yaml(text, file, loaded.problems);
    if (!loaded.problems.empty()) return loaded;
    FileReading reading{file, folder_of(file), sources, loaded.problems};
    MapReader map(root, {}, reading);
    Settings settings;
    settings.file = file;
    read_settings(map, settings);
    if (loaded.problems.empty()) loaded.settings = std::move(settings);
    return loaded;
}

LoadedSettings load_settings(const std::string& file, const SettingsSources& sources) {
    std::string error;
    const auto text = read_file(file, yaml_bytes_max, error);
    if (text) return load_settings_text(*text, file, sources);
    LoadedSettings loaded;
    loaded.problems.push_back({file, 0, 0, {}, std::move(error), {}});
    return loaded;
}

std::optional<std::string> find_settings_file(const std::string& given) {
    if (!given.empty()) return given;
    for (const char* candidate : {"./config/opid.yaml", "/etc/opid/opid.yaml"}) {
        std::error_code error;
        if (std::filesystem::exists(candidate, error)) return candidate;
    }
    return std::nullopt;
}

}  // namespace opid
