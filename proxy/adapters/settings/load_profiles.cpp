#include "adapters/settings/load_profiles.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "adapters/settings/files.hpp"
#include "adapters/settings/profile_reader.hpp"

namespace opid {
namespace {

constexpr std::size_t files_max = 10000;

void file_problem(std::vector<SettingsProblem>& problems, const std::string& file, std::string text) {
    problems.push_back({file, 0, 0, {}, std::move(text), {}});
}

bool is_profile_name(const std::filesystem::path& path) {
    const std::string extension = path.extension().string();
    return (extension == ".yaml" || extension == ".yml") && path.filename().string().front() != '.';
}

void list_folder(const std::string& folder, std::vector<std::string>& files, std::vector<SettingsProblem>& problems) {
    std::error_code error;
    std::vector<std::string> found;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        std::error_code status_error;
        if (is_profile_name(entry->path()) && !entry->is_directory(status_error))
            found.push_back(entry->path().string());
    }
    if (error) file_problem(problems, folder, fmt::format("can't be listed: {}", error.message()));
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
}

// One name for one provider, one provider for one host.
class Uniqueness {
public:
    explicit Uniqueness(std::vector<SettingsProblem>& problems) : problems_(problems) {}

    void add(const Profile& profile, const YamlNode& root) {
        claim(providers_, profile.provider, profile, "provider", "the provider", line_of(root, "provider"));
        const int hosts = line_of(root, "hosts");
        for (const std::string& host : profile.hosts) claim(hosts_, host, profile, "hosts", "the host", hosts);
    }

private:
    using Owners = std::unordered_map<std::string, std::string>;

    static int line_of(const YamlNode& root, std::string_view key) {
        for (const YamlMember& member : root.members) {
            if (member.first.text == key) return member.first.line;
        }
        return 0;
    }

    void claim(Owners& owners, const std::string& name, const Profile& profile, const char* path, const char* what,
               int line) {
        if (name.empty()) return;
        const auto [owner, added] = owners.emplace(name, profile.file);
        if (added) return;
        problems_.push_back(
            {profile.file, line, 0, path, fmt::format("{} {} is in {} already", what, name, owner->second), {}});
    }

    std::vector<SettingsProblem>& problems_;
    Owners providers_;
    Owners hosts_;
};

}  // namespace

LoadedProfiles load_profile_texts(const std::vector<ProfileText>& texts, const SettingsSources& sources) {
    LoadedProfiles loaded;
    std::vector<ProfilePtr> profiles;
    Uniqueness uniqueness(loaded.problems);
    for (const ProfileText& source : texts) {
        const std::size_t before = loaded.problems.size();
        const YamlNode root = read_yaml(source.text, source.file, loaded.problems);
        if (loaded.problems.size() != before) continue;
        FileReading reading{source.file, folder_of(source.file), sources, loaded.problems};
        Profile profile = read_profile(root, source.text, reading);
        uniqueness.add(profile, root);
        profiles.push_back(std::make_shared<const Profile>(std::move(profile)));
    }
    if (loaded.problems.empty()) loaded.profiles = ProfileSet(std::move(profiles));
    return loaded;
}

LoadedProfiles load_profiles(const std::vector<std::string>& paths, const SettingsSources& sources) {
    std::vector<SettingsProblem> problems;
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        std::error_code error;
        if (std::filesystem::is_directory(path, error)) {
            list_folder(path, files, problems);
        } else {
            files.push_back(path);
        }
    }
    if (files.size() > files_max) {
        file_problem(problems, paths.front(), fmt::format("more than {} files", files_max));
        files.clear();
    }
    std::vector<ProfileText> texts;
    for (const std::string& file : files) {
        std::string why;
        auto text = read_file(file, yaml_bytes_max, why);
        if (text) {
            texts.push_back(ProfileText{file, std::move(*text)});
        } else {
            file_problem(problems, file, std::move(why));
        }
    }
    LoadedProfiles loaded = load_profile_texts(texts, sources);
    loaded.problems.insert(loaded.problems.begin(), problems.begin(), problems.end());
    if (!loaded.problems.empty()) loaded.profiles.reset();
    return loaded;
}

}  // namespace opid
