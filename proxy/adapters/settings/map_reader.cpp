#include "adapters/settings/map_reader.hpp"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "adapters/settings/nearest_word.hpp"

namespace opid {
namespace {

constexpr std::size_t shown_bytes_max = 40;

std::string joined(const std::vector<std::string_view>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

std::string size_text(std::uint64_t bytes) {
    if (bytes >= (1u << 30) && bytes % (1u << 30) == 0) return fmt::format("{}GiB", bytes >> 30);
    if (bytes >= (1u << 20) && bytes % (1u << 20) == 0) return fmt::format("{}MiB", bytes >> 20);
    if (bytes >= 1024 && bytes % 1024 == 0) return fmt::format("{}KiB", bytes >> 10);
    return fmt::format("{}B", bytes);
}

}  // namespace

bool FileReading::full() const {
    const auto mine = std::count_if(problems.begin(), problems.end(),
                                    [this](const SettingsProblem& problem) { return problem.file == file; });
    return mine >= problems_max;
}

void FileReading::problem(const YamlNode& at, const std::string& path, std::string text, std::string hint) {
    if (full()) return;
    problems.push_back({file, at.line, at.column, path, std::move(text), std::move(hint)});
}

std::string found_text(const YamlNode& node) {
    switch (node.kind) {
        case YamlNode::Kind::null: return "nothing";
        case YamlNode::Kind::list: return "a list";
        case YamlNode::Kind::map: return "a map";
        case YamlNode::Kind::scalar: break;
    }
    if (node.text.size() <= shown_bytes_max) return fmt::format("'{}'", node.text);
    std::size_t end = shown_bytes_max;
    while (end > 0 && (static_cast<unsigned char>(node.text[end]) & 0xC0) == 0x80) --end;  // no half character
    return fmt::format("'{}...'", node.text.substr(0, end));
}

std::string item_path(const std::string& path, std::size_t index) { return fmt::format("{}[{}]", path, index); }

MapReader::MapReader(const YamlNode& node, std::string path, FileReading& reading)
    : node_(node),
      path_(std::move(path)),
      reading_(reading) {
    if (!node_.is_map() && !node_.is_null()) {
        reading_.problem(node_, path_, fmt::format("expected a map, found {}", found_text(node_)));
    }
    std::unordered_map<std::string_view, int> lines;
    for (const auto& member : node_.members) {
        const YamlNode& key = member.first;
        const auto [first, added] = lines.emplace(key.text, key.line);
        if (added) continue;
        reading_.problem(key, path_of(key.text), fmt::format("stands here twice, first in line {}", first->second));
    }
}

std::string MapReader::path_of(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const YamlNode* MapReader::get(std::string_view key) {
    known_.push_back(key);
    for (const auto& [name, value] : node_.members) {
        if (name.text == key) return &value;
    }
    return nullptr;
}

const YamlNode* MapReader::require(std::string_view key) {
    const YamlNode* value = get(key);
    if (value == nullptr || value->is_null()) {
        if (node_.is_map() || node_.is_null()) reading_.problem(node_, path_, fmt::format("'{}' is missing", key));
        return nullptr;
    }
    return value;
}

void MapReader::finish() {
    for (const auto& member : node_.members) {
        const YamlNode& key = member.first;
        if (std::find(known_.begin(), known_.end(), key.text) != known_.end()) continue;
        if (reading_.full()) return;
        reading_.problem(key, path_, fmt::format("unknown key {}", found_text(key)), nearest_word(key.text, known_));
    }
}

void MapReader::problem(std::string_view key, std::string what, std::string hint) {
    const YamlNode* at = &node_;
    for (const auto& [name, value] : node_.members) {
        if (name.text == key) at = value.line > 0 ? &value : &name;
    }
    reading_.problem(*at, path_of(key), std::move(what), std::move(hint));
}

bool MapReader::text(std::string_view key, std::string& out) {
    const YamlNode* node = get(key);
    if (node == nullptr) return false;
    if (!node->is_scalar() || node->text.empty()) {
        reading_.problem(*node, path_of(key), fmt::format("expected a text, found {}", found_text(*node)));
        return false;
    }
    out = node->text;
    return true;
}

bool MapReader::flag(std::string_view key, bool& out) {
    const YamlNode* node = get(key);
    if (node == nullptr) return false;
    if (node->is_scalar() && !node->quoted && (node->text == "true" || node->text == "false")) {
        out = node->text == "true";
        return true;
    }
    reading_.problem(*node, path_of(key), fmt::format("expected true or false, found {}", found_text(*node)));
    return false;
}

bool MapReader::duration(std::string_view key, Millis& out, Millis least, Millis most) {
    const YamlNode* node = get(key);
    if (node == nullptr) return false;
    const auto value = node->is_scalar() ? parse_duration(node->text) : std::nullopt;
    if (!value) {
        reading_.problem(
            *node, path_of(key),
            fmt::format("expected a duration such as 30s (units: ms s m h d), found {}", found_text(*node)));
        return false;
    }
    if (*value < least || *value > most) {
        reading_.problem(*node, path_of(key),
                         fmt::format("has to be between {} and {}, found {}", format_duration(least),
                                     format_duration(most), node->text));
        return false;
    }
    out = *value;
    return true;
}

bool MapReader::size(std::string_view key, std::uint64_t& out, std::uint64_t least, std::uint64_t most) {
    const YamlNode* node = get(key);
    if (node == nullptr) return false;
    const auto value = node->is_scalar() ? parse_size(node->text) : std::nullopt;
    if (!value) {
        reading_.problem(
            *node, path_of(key),
            fmt::format("expected a size such as 16MiB (units: B KiB MiB GiB), found {}", found_text(*node)));
        return false;
    }
    if (*value < least || *value > most) {
        reading_.problem(
            *node, path_of(key),
            fmt::format("has to be between {} and {}, found {}", size_text(least), size_text(most), node->text));
        return false;
    }
    out = *value;
    return true;
}

bool MapReader::count(std::string_view key, std::uint64_t& out, std::uint64_t least, std::uint64_t most) {
    const YamlNode* node = get(key);
    if (node == nullptr) return false;
    const bool digits = node->is_scalar() && !node->text.empty() && node->text.size() <= 15 &&
                        node->text.find_first_not_of("0123456789") == std::string::npos;
    if (!digits) {
        reading_.problem(*node, path_of(key), fmt::format("expected a whole number, found {}", found_text(*node)));
        return false;
    }
    const std::uint64_t value = std::stoull(node->text);
    if (value < least || value > most) {
        reading_.problem(*node, path_of(key),
                         fmt::format("has to be between {} and {}, found {}", least, most, node->text));
        return false;
    }
    out = value;
    return true;
}

void MapReader::unknown_word(const YamlNode& node, const std::string& path,
                             const std::vector<std::string_view>& known) {
    const std::string hint = node.is_scalar() ? nearest_word(node.text, known) : std::string();
    reading_.problem(node, path, fmt::format("expected one of {}; found {}", joined(known), found_text(node)), hint);
}

std::vector<const YamlNode*> items_of(const YamlNode& node, const std::string& path, FileReading& reading,
                                      std::string_view expected) {
    std::vector<const YamlNode*> items;
    if (node.is_scalar()) items.push_back(&node);
    if (node.is_map()) reading.problem(node, path, fmt::format("expected {}, found a map", expected));
    for (const YamlNode& item : node.items) items.push_back(&item);
    return items;
}

std::vector<std::string> texts_of(const YamlNode& node, const std::string& path, FileReading& reading,
                                  std::string_view expected) {
    std::vector<std::string> texts;
    for (const YamlNode* item : items_of(node, path, reading, expected)) {
        if (item->is_scalar() && !item->text.empty()) {
            texts.push_back(item->text);
        } else {
            reading.problem(*item, path, fmt::format("expected {}, found {} in it", expected, found_text(*item)));
        }
    }
    return texts;
}

}  // namespace opid
