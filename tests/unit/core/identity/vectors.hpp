#pragma once
// Test vectors by others, read where they lie beside the checkout; a test says so and ends where they don't.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace opid::test {

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::vector<std::filesystem::path> vector_files(const char* folder) {
    const auto root = std::filesystem::path(OPID_SOURCE_DIR) / "../shared/vectors" / folder;
    std::vector<std::filesystem::path> files;
    if (!std::filesystem::exists(root)) {
        std::cout << "skipped: no " << root << "\n";
        return files;
    }
    for (const auto& entry : std::filesystem::directory_iterator(root)) {
        if (entry.is_regular_file()) files.push_back(entry.path());
    }
    return files;
}

}  // namespace opid::test
