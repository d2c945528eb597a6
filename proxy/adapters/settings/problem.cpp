#include "adapters/settings/problem.hpp"

#include <fmt/format.h>

namespace opid {

std::string to_text(const SettingsProblem& problem) {
    std::string text = problem.file;
    if (problem.line > 0) text += fmt::format(":{}", problem.line);
    text += ": ";
    if (!problem.path.empty()) text += problem.path + ": ";
    text += problem.text;
    if (!problem.hint.empty()) text += fmt::format(" (did you mean '{}'?)", problem.hint);
    return text;
}

std::string to_text(const std::vector<SettingsProblem>& problems) {
    std::string text;
    for (const SettingsProblem& problem : problems) text += to_text(problem) + "\n";
    return text;
}

}  // namespace opid
