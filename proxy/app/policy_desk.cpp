#include "app/policy_desk.hpp"

#include <fmt/format.h>

#include "adapters/settings/load_profiles.hpp"

namespace opid {
namespace {

void warn(std::vector<std::string>& warnings, const Profile& profile, const Rule& rule, std::string_view what) {
    const std::string name = rule.name.empty() ? "the default rule" : "rule " + rule.name;
    warnings.push_back(fmt::format("{}: {}: {}", profile.file, name, what));
}

void warn_of_rule(std::vector<std::string>& warnings, const Profile& profile, const Rule& rule) {
    if (rule.look_up) {
        warn(warnings, profile, rule, "look_up is not carried out by this build: doubt goes to review instead");
    }
    if (rule.dry_run) warn(warnings, profile, rule, "dry_run is not carried out by this build");
}

}  // namespace

ReloadReport PolicyDesk::reload() {
    const std::lock_guard lock(mutex_);
    LoadedProfiles loaded = load_profiles(paths_);
    ReloadReport report;
    for (const SettingsProblem& problem : loaded.problems) report.problems.push_back(to_text(problem));
    if (!loaded.profiles) return report;
    report.changed = true;
    report.profiles = loaded.profiles->all().size();
    board_.publish(std::make_shared<const ProfileSet>(std::move(*loaded.profiles)));
    return report;
}

std::vector<std::string> policy_warnings(const ProfileSet& profiles) {
    std::vector<std::string> warnings;
    for (const ProfilePtr& profile : profiles.all()) {
        for (const Rule& rule : profile->rules) warn_of_rule(warnings, *profile, rule);
        warn_of_rule(warnings, *profile, profile->default_rule);
    }
    return warnings;
}

}  // namespace opid
