#include "app/data_folder.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "adapters/system/durable_file.hpp"
#include "base/encoding.hpp"

namespace opid {
namespace {

constexpr std::size_t small_file_bytes_max = 4096;
constexpr std::size_t token_random_bytes = 32;
constexpr unsigned for_owner = 0600;

Status make_folder(const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
    if (::mkdir(path.c_str(), 0700) == 0) return ok();
    if (std::filesystem::is_directory(path, error)) return ok();
    return Error(ErrorKind::unavailable, fmt::format("data: {} can't be made: {}", path, error.message()));
}

std::string host_name() {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "opid";
    return name;
}

}  // namespace

Status make_data_folder(const std::string& folder) {
    const Status made = make_folder(folder);
    if (!made) return made;
    return make_folder(folder + "/spool");
}

Result<std::uint64_t> next_epoch(const std::string& folder, Instant now) {
    const std::string path = folder + "/epoch";
    std::uint64_t last = 0;
    const Result<std::string> text = read_small_file(path, small_file_bytes_max);
    if (!text && text.error().kind() != ErrorKind::not_found) return text.error();
    if (text) {
        const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), last);
        if (error != std::errc() || end != text->data() + text->size()) last = 0;
    }
    const auto clock = static_cast<std::uint64_t>(std::max<std::int64_t>(0, to_unix_ms(now)));
    const std::uint64_t next = std::max(last + 1, clock);
    const Status written = write_durably(path, std::to_string(next) + "\n", for_owner);
    if (!written) return written.error();
    return next;
}

Result<std::string> node_name(const std::string& folder, const std::string& wanted) {
    if (!wanted.empty()) return wanted;
    const std::string path = folder + "/node";
    const Result<bool> made = create_durably(path, host_name() + "\n", for_owner);
    if (!made) return made.error();
    return read_small_file(path, small_file_bytes_max);
}

Result<Secret> admin_token(const std::string& folder, Entropy& entropy) {
    const std::string path = folder + "/admin.token";
    const std::string fresh = "opid_" + base32hex(entropy.bytes(token_random_bytes));
    const Result<bool> made = create_durably(path, fresh + "\n", for_owner);
    if (!made) return made.error();
    Result<std::string> text = read_small_file(path, small_file_bytes_max);
    if (!text) return text.error();
    if (text->size() < 16)
        return Error(ErrorKind::invalid, path + ": too short for a token; remove it to get a new one");
    return Secret(std::move(*text));
}

Status note_admin_address(const std::string& folder, const std::string& address) {
    return write_durably(folder + "/admin.address", address + "\n", for_owner);
}

Status note_proxy_address(const std::string& folder, const std::string& address) {
    return write_durably(folder + "/proxy.address", address + "\n", for_owner);
}

std::string authority_folder(const std::string& folder) { return folder + "/ca"; }

}  // namespace opid
