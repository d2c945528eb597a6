#include "adapters/settings/files.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace opid {
namespace {

constexpr std::size_t secret_bytes_max = 64 * 1024;

bool is_variable_name(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    });
}

std::optional<std::string> variable(const FileReading& reading, const std::string& name) {
    if (reading.sources.environment) return reading.sources.environment(name);
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

bool is_there(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
}

}  // namespace

std::optional<std::string> read_file(const std::string& path, std::size_t bytes_max, std::string& error) {
    std::error_code code;
    const auto status = std::filesystem::status(path, code);
    if (!std::filesystem::exists(status)) {
        error = "no such file";
        return std::nullopt;
    }
    if (!std::filesystem::is_regular_file(status)) {
        error = "is no file";
        return std::nullopt;
    }
    std::ifstream stream(path, std::ios::binary);
    std::string text(bytes_max + 1, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(stream.gcount(), 0)));
    if (!stream.is_open() || stream.bad()) {
        error = "can't be read";
        return std::nullopt;
    }
    if (text.size() > bytes_max) {
        error = fmt::format("larger than {} KiB", bytes_max / 1024);
        return std::nullopt;
    }
    return text;
}

std::optional<std::string> locate(const std::string& path, const std::string& folder) {
    const std::filesystem::path wanted(path);
    if (wanted.is_relative() && !folder.empty() && is_there(folder / wanted)) return (folder / wanted).string();
    if (is_there(wanted)) return path;
    return std::nullopt;
}

std::string folder_of(const std::string& file) { return std::filesystem::path(file).parent_path().string(); }

std::optional<std::string> read_file_reference(const YamlNode& node, const std::string& path, FileReading& reading) {
    if (!node.is_scalar() || node.text.substr(0, 5) != "file:" || node.text.size() == 5) {
        reading.problem(node, path, fmt::format("expected file:PATH, found {}", found_text(node)));
        return std::nullopt;
    }
    const std::string wanted = node.text.substr(5);
    const auto found = locate(wanted, reading.folder);
    std::error_code error;
    if (!found || !std::filesystem::is_regular_file(*found, error)) {
        reading.problem(node, path, fmt::format("there is no file {}", wanted));
        return std::nullopt;
    }
    return found;
}

std::optional<Secret> read_secret(const YamlNode& node, const std::string& path, FileReading& reading) {
    const std::string_view text = node.is_scalar() ? std::string_view(node.text) : std::string_view();
    if (text.substr(0, 4) == "env:") {
        const std::string name(text.substr(4));
        if (!is_variable_name(name)) {
            reading.problem(node, path, "expected env:NAME with the name of an environment variable");
            return std::nullopt;
        }
        auto value = variable(reading, name);
        if (!value || value->empty()) {
            reading.problem(node, path,
                            fmt::format("the environment variable {} is {}", name, value ? "empty" : "not set"));
            return std::nullopt;
        }
        return Secret(std::move(*value));
    }
    if (text.substr(0, 5) == "file:") {
        const auto file = read_file_reference(node, path, reading);
        if (!file) return std::nullopt;
        std::string error;
        auto value = read_file(*file, secret_bytes_max, error);
        if (value && !value->empty() && value->back() == '\n') value->pop_back();
        if (value && !value->empty() && value->back() == '\r') value->pop_back();
        if (!value || value->empty()) {
            reading.problem(node, path, fmt::format("the file {}: {}", text.substr(5), value ? "is empty" : error));
            return std::nullopt;
        }
        return Secret(std::move(*value));
    }
    reading.problem(node, path, "a secret is not written here; refer to it with env:NAME or file:PATH");
    return std::nullopt;
}

}  // namespace opid
