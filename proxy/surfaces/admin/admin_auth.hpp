#pragma once
// Who calls the admin API: bearer tokens with roles, compared in constant time.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sha256.hpp"

namespace opid {

// Each role may do what the ones before it may. nobody: no token needed.
enum class Role : unsigned char { nobody, viewer, approver, operator_ };
std::string_view to_word(Role role);

struct AdminIdentity {
    std::string name;  // the actor in histories
    Role role = Role::viewer;
    Digest token{};  // SHA-256 of it
};

// The identity whose token the Authorization value carries (RFC 6750: "Bearer TOKEN"). Looks at every identity,
// whatever it finds, so that time tells nothing.
const AdminIdentity* authenticate(std::string_view authorization, const std::vector<AdminIdentity>& identities);

}  // namespace opid
