#pragma once
// A YAML text as a tree that remembers where everything stands. Smaller than YAML: no anchors, aliases, tags, merge
// keys or second documents, no key twice; bounded in size, depth and nodes.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/settings/problem.hpp"

namespace opid {

constexpr std::size_t yaml_bytes_max = 1 << 20;
constexpr std::size_t yaml_depth_max = 32;
constexpr std::size_t yaml_nodes_max = 100000;

struct YamlMember;

struct YamlNode {
    enum class Kind : std::uint8_t { null, scalar, list, map };
    Kind kind = Kind::null;
    bool quoted = false;  // a scalar in quotes or a block: always a string
    std::string text;     // of a scalar
    int line = 0;         // from 1
    int column = 0;
    std::vector<YamlNode> items;      // of a list
    std::vector<YamlMember> members;  // of a map, in order; keys are scalars

    bool is_map() const { return kind == Kind::map; }
    bool is_list() const { return kind == Kind::list; }
    bool is_scalar() const { return kind == Kind::scalar; }
    bool is_null() const { return kind == Kind::null; }
};

struct YamlMember {
    YamlNode first;   // the key
    YamlNode second;  // its value
};

// An empty text is a null. Adds problems and gives what could be read.
YamlNode read_yaml(std::string_view text, const std::string& file, std::vector<SettingsProblem>& problems);

}  // namespace opid
