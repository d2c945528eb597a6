#pragma once
// What commands ask of the program that they are part of.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
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
    std::string proxy_address;  // the same of the proxy; empty: the system picks a port, and none is noted yet
    std::vector<std::pair<std::string, std::string>> provider_addresses;  // those with a port of their own
    std::vector<std::string> tenants;                                     // names
    std::vector<std::string> policies;
};

// opid's certificate authority and the files that clients take, all paths absolute.
struct CliTrust {
    std::string subject;
    std::string fingerprint;
    Instant not_before{};
    Instant not_after{};
    std::string folder;
    std::string ca;
    std::string bundle;
    std::string truststore;
    std::string truststore_password;
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
    // accept_restore: once after a restore, as operations that began after the backup are not known any more.
    virtual int serve(const std::string& config, const std::string& data, bool accept_restore) = 0;
    // Reads none of the secrets that the file refers to in the environment: no command but `serve` needs them.
    virtual CliSettings settings(const std::string& config, const std::string& data) = 0;
    virtual CliPolicies policies(const std::vector<std::string>& paths) = 0;
    virtual Result<CliStoreReport> verify_store(const std::string& data) = 0;
    virtual Result<std::string> backup_store(const std::string& data, const std::string& folder) = 0;
    virtual Result<std::string> restore_store(const std::string& folder, const std::string& data, bool force) = 0;
    // Makes what is missing. refresh_bundle: with the system's roots as they are now, although there is a bundle.
    virtual Result<CliTrust> trust(const std::string& data, bool refresh_bundle) = 0;
    virtual Result<CliTrust> rotate_trust(const std::string& data) = 0;  // a running opid wouldn't notice
    // The file's whole new text, readable by its owner alone.
    virtual Status replace_file(const std::string& path, std::string_view text) = 0;
    virtual std::string fresh_token() = 0;
    virtual std::string_view version() const = 0;
};

}  // namespace opid
