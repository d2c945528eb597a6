#pragma once
// Golden files: expected text under tests/golden, reviewed as a diff and rewritten with OPID_GOLDEN=update.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace opid::test {

inline std::string golden_path(std::string_view name) {
    return std::string(OPID_SOURCE_DIR) + "/tests/golden/" + std::string(name);
}

// The expected text: the file's, or `actual` itself after it was written there.
inline std::string golden(std::string_view name, const std::string& actual) {
    const char* mode = std::getenv("OPID_GOLDEN");
    if (mode != nullptr && std::string_view(mode) == "update") {
        std::ofstream(golden_path(name), std::ios::binary) << actual;
        return actual;
    }
    std::ifstream file(golden_path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace opid::test
