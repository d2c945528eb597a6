#pragma once
// All profiles that are in force together. Immutable, cheap to look up in, shared by pointer.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/profile/profile.hpp"

namespace opid {

class ProfileSet {
public:
    ProfileSet() = default;
    explicit ProfileSet(std::vector<ProfilePtr> profiles);  // names and hosts must be unique (the loader checks)

    ProfilePtr by_name(std::string_view provider) const;  // null: none
    // host without brackets or port, lower case; port as connected to. "host:port" wins over "host", that over
    // wildcards, and of those the longest. "*.example.com" covers names below example.com at any depth, not itself.
    ProfilePtr by_host(std::string_view host, std::uint16_t port) const;
    const std::vector<ProfilePtr>& all() const { return profiles_; }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    struct Entry {
        std::uint16_t port = 0;  // 0: every port
        ProfilePtr profile;
    };
    using Entries = std::unordered_map<std::string, std::vector<Entry>, Hash, std::equal_to<>>;

    static ProfilePtr find(const Entries& entries, std::string_view host, std::uint16_t port);

    std::vector<ProfilePtr> profiles_;
    std::unordered_map<std::string, ProfilePtr, Hash, std::equal_to<>> names_;
    Entries hosts_;
    Entries suffixes_;  // of wildcards, without "*."
};

// A host of a profile taken apart: "*.example.com:8443" is {example.com, 8443, wildcard}.
struct HostPattern {
    std::string_view host;  // without brackets
    std::uint16_t port = 0;
    bool wildcard = false;
    friend bool operator==(const HostPattern&, const HostPattern&) = default;
};
HostPattern split_host_pattern(std::string_view text);  // of an accepted, lower-case pattern; a view of it

}  // namespace opid
