#pragma once
// The policies in force: read at the start, read anew on demand, all or nothing.
#include <mutex>
#include <string>
#include <vector>

#include "engine/profile_board.hpp"
#include "surfaces/admin/admin_api.hpp"

namespace opid {

// What these profiles ask for and this build does not carry out; one line each, with file and rule.
std::vector<std::string> policy_warnings(const ProfileSet& profiles);

class PolicyDesk {
public:
    explicit PolicyDesk(std::vector<std::string> paths) : paths_(std::move(paths)) {}

    ReloadReport reload();  // thread-safe
    const ProfileBoard& board() const { return board_; }
    std::vector<std::string> warnings() const { return policy_warnings(*board_.current()); }

private:
    std::vector<std::string> paths_;
    std::mutex mutex_;
    ProfileBoard board_;
};

}  // namespace opid
