#pragma once
// Loads texts in tests: problems as printed lines, and an environment of the test's own.
#include <map>
#include <string>

#include "adapters/settings/load_profiles.hpp"
#include "adapters/settings/load_settings.hpp"

namespace opid {

inline SettingsSources test_sources() {
    SettingsSources sources;
    sources.environment = [](const std::string& name) -> std::optional<std::string> {
        static const std::map<std::string, std::string> variables{{"TOKEN_A", "secret-a"},
                                                                  {"TOKEN_B", "secret-b"},
                                                                  {"DSN", "postgres://"},
                                                                  {"EMPTY", ""},
                                                                  {"TWO_LINES", "a\nb"}};
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
    return sources;
}

inline std::string settings_problems(const std::string& text) {
    return to_text(load_settings_text(text, "c.yaml", test_sources()).problems);
}

inline std::string profile_problems(const std::string& text) {
    return to_text(load_profile_texts({{"p.yaml", text}}, test_sources()).problems);
}

// A profile around some lines, which begin in line 3.
inline std::string profile_around(const std::string& lines) { return "provider: p\nhosts: [p.test]\n" + lines; }

}  // namespace opid
