// Stands in for libFuzzer in ordinary builds: feeds each seed to the target once, and each of its prefixes up to a
// bound, since a cut input is what a network delivers. A crash is the only verdict.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t prefixes_max = 256;

// A copy of the exact size, so that AddressSanitizer sees a read past the end.
void feed(const std::vector<char>& bytes, std::size_t size) {
    std::vector<std::uint8_t> input(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    input.shrink_to_fit();
    LLVMFuzzerTestOneInput(input.data(), input.size());
}

void replay(const std::filesystem::path& seed) {
    std::ifstream file(seed, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    for (std::size_t size = 0; size < std::min(bytes.size(), prefixes_max); ++size) feed(bytes, size);
    feed(bytes, bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
    std::size_t seeds = 0;
    for (int index = 1; index < argc; ++index) {
        const std::filesystem::path corpus(argv[index]);
        if (!std::filesystem::is_directory(corpus)) continue;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(corpus)) {
            if (!entry.is_regular_file()) continue;
            replay(entry.path());
            ++seeds;
        }
    }
    std::cout << seeds << " seeds replayed\n";
    return seeds == 0 ? 1 : 0;  // a target without seeds tests nothing
}
