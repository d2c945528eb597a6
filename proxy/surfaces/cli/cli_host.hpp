#pragma once
// What commands ask of the program that they are part of.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "engine/profile_board.hpp"

namespace opid {

// Exit codes of every command; `opid --help` tells them.
inline constexpr int exit_ok = 0;
inline constexpr int exit_problem = 1;  // a problem was found, or the request was refused
inline constexpr int exit_usage = 2;
inline constexpr int exit_unavailable = 3;  // not part of this build
inline constexpr int exit_no_proxy = 4;     // no running opid could be reached

struct CliProblem {
    std::string file;
    int line = 0;
    int column = 0;
    std::string path;
    std::string text;
    std::string hint;
    std::string shown;  // all of it in one line
};

struct CliSettings {
    std::vector<CliProblem> problems;  // any: the rest is not set
    std::string data;
    std::string admin_address;  // "127.0.0.1:8081", where a running opid listens as far as files tell
    std::vector<std::string> policies;
};

struct CliPolicies {
    std::vector<CliProblem> problems;
    std::vector<std::string> warnings;
    ProfileSetPtr profiles;  // null where there are problems
};

struct CliStoreReport {
    bool sound = true;
    std::vector<std::pair<std::string, std::uint64_t>> counts;
    std::vector<std::string> problems;
};

class CliHost {
public:
    virtual ~CliHost() = default;
    virtual int serve(const std::string& config, const std::string& data) = 0;
    virtual CliSettings settings(const std::string& config, const std::string& data) = 0;
    virtual CliPolicies policies(const std::vector<std::string>& paths) = 0;
    virtual Result<CliStoreReport> verify_store(const std::string& data) = 0;
    virtual Result<std::string> backup_store(const std::string& data, const std::string& folder) = 0;
    virtual Result<std::string> restore_store(const std::string& folder, const std::string& data, bool force) = 0;
    virtual std::string fresh_token() = 0;
    virtual std::string_view version() const = 0;
};

}  // namespace opid
