#pragma once
// Takes a map of a file apart, key by key, and collects what is wrong with it. A key that was never asked for is
// unknown: finish() says so, with the nearest of those that were.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/settings/load_settings.hpp"
#include "adapters/settings/yaml_tree.hpp"
#include "base/time.hpp"

namespace opid {

// One file while it is read.
struct FileReading {
    std::string file;
    std::string folder;  // that relative paths are taken from; empty: the working directory
    const SettingsSources& sources;
    std::vector<SettingsProblem>& problems;

    // The first hundred of a file are enough to be read.
    void problem(const YamlNode& at, const std::string& path, std::string text, std::string hint = {});
    bool full() const;
    static constexpr std::ptrdiff_t problems_max = 100;
};

// What stands there, for "expected …, found …".
std::string found_text(const YamlNode& node);

template <class T, std::size_t N>
using Words = std::array<std::pair<std::string_view, T>, N>;

class MapReader {
public:
    // A null counts as an empty map; anything else that is no map is a problem, and reads as empty.
    MapReader(const YamlNode& node, std::string path, FileReading& reading);

    const YamlNode& node() const { return node_; }
    const std::string& path() const { return path_; }
    std::string path_of(std::string_view key) const;
    FileReading& reading() const { return reading_; }

    const YamlNode* get(std::string_view key);      // null: not there; the key is known from now on
    const YamlNode* require(std::string_view key);  // absent or empty: a problem
    void finish();                                  // call once, when all keys were asked for

    // These leave `out` alone where the key is absent or wrong, and tell whether they set it.
    bool text(std::string_view key, std::string& out);
    bool flag(std::string_view key, bool& out);
    bool duration(std::string_view key, Millis& out, Millis least, Millis most);
    bool size(std::string_view key, std::uint64_t& out, std::uint64_t least, std::uint64_t most);
    bool count(std::string_view key, std::uint64_t& out, std::uint64_t least, std::uint64_t most);

    template <class T, std::size_t N>
    bool word(std::string_view key, T& out, const Words<T, N>& words) {
        const YamlNode* node = get(key);
        if (node == nullptr) return false;
        std::vector<std::string_view> known;
        for (const auto& [name, value] : words) {
            if (node->is_scalar() && node->text == name) {
                out = value;
                return true;
            }
            known.push_back(name);
        }
        unknown_word(*node, path_of(key), known);
        return false;
    }

    void problem(std::string_view key, std::string what, std::string hint = {});

private:
    void unknown_word(const YamlNode& node, const std::string& path, const std::vector<std::string_view>& known);

    const YamlNode& node_;
    std::string path_;
    FileReading& reading_;
    std::vector<std::string_view> known_;
};

// The items of a list; a scalar counts as a list of one, a null as empty. Anything else is a problem and empty.
std::vector<const YamlNode*> items_of(const YamlNode& node, const std::string& path, FileReading& reading,
                                      std::string_view expected);
// Plain texts of such a list.
std::vector<std::string> texts_of(const YamlNode& node, const std::string& path, FileReading& reading,
                                  std::string_view expected);
std::string item_path(const std::string& path, std::size_t index);

}  // namespace opid
