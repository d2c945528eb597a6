#include "core/profile/profile_set.hpp"

#include <charconv>

namespace opid {

HostPattern split_host_pattern(std::string_view text) {
    HostPattern pattern;
    if (text.substr(0, 2) == "*.") {
        pattern.wildcard = true;
        text.remove_prefix(2);
    }
    std::size_t colon = text.rfind(':');
    const std::size_t bracket = text.rfind(']');
    if (colon != std::string_view::npos && bracket != std::string_view::npos && colon < bracket) {
        colon = std::string_view::npos;
    }
    if (colon != std::string_view::npos) {
        std::from_chars(text.data() + colon + 1, text.data() + text.size(), pattern.port);
        text = text.substr(0, colon);
    }
    if (text.size() > 2 && text.front() == '[') text = text.substr(1, text.size() - 2);
    pattern.host = text;
    return pattern;
}

ProfileSet::ProfileSet(std::vector<ProfilePtr> profiles) : profiles_(std::move(profiles)) {
    for (const ProfilePtr& profile : profiles_) {
        names_.emplace(profile->provider, profile);
        for (const std::string& text : profile->hosts) {
            const HostPattern pattern = split_host_pattern(text);
            Entries& entries = pattern.wildcard ? suffixes_ : hosts_;
            entries[std::string(pattern.host)].push_back(Entry{pattern.port, profile});
        }
    }
}

ProfilePtr ProfileSet::by_name(std::string_view provider) const {
    const auto found = names_.find(provider);
    return found == names_.end() ? nullptr : found->second;
}

ProfilePtr ProfileSet::find(const Entries& entries, std::string_view host, std::uint16_t port) {
    const auto found = entries.find(host);
    if (found == entries.end()) return nullptr;
    ProfilePtr any_port;
    for (const Entry& entry : found->second) {
        if (entry.port == port && port != 0) return entry.profile;
        if (entry.port == 0) any_port = entry.profile;
    }
    return any_port;
}

ProfilePtr ProfileSet::by_host(std::string_view host, std::uint16_t port) const {
    if (ProfilePtr exact = find(hosts_, host, port)) return exact;
    if (suffixes_.empty()) return nullptr;
    for (std::size_t dot = host.find('.', 1); dot != std::string_view::npos; dot = host.find('.', dot + 1)) {
        if (ProfilePtr wild = find(suffixes_, host.substr(dot + 1), port)) return wild;
    }
    return nullptr;
}

}  // namespace opid
