#include "surfaces/cli/file_text.hpp"

#include <fstream>
#include <iterator>

namespace opid {

std::optional<std::string> file_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

}  // namespace opid
