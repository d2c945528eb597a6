#include "surfaces/admin/admin_auth.hpp"

#include "base/encoding.hpp"

namespace opid {
namespace {

constexpr std::size_t token_bytes_max = 4096;

bool equal_in_constant_time(const Digest& a, const Digest& b) {
    unsigned difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
    return difference == 0;
}

}  // namespace

std::string_view to_word(Role role) {
    switch (role) {
        case Role::nobody: return "nobody";
        case Role::viewer: return "viewer";
        case Role::approver: return "approver";
        case Role::operator_: return "operator";
    }
    return "?";
}

const AdminIdentity* authenticate(std::string_view authorization, const std::vector<AdminIdentity>& identities) {
    constexpr std::string_view scheme = "bearer ";
    if (authorization.size() <= scheme.size() || authorization.size() > token_bytes_max) return nullptr;
    if (!equal_ignoring_case(authorization.substr(0, scheme.size()), scheme)) return nullptr;
    const Digest given = sha256(trim_blank(authorization.substr(scheme.size())));
    const AdminIdentity* found = nullptr;
    for (const AdminIdentity& identity : identities) {
        if (equal_in_constant_time(given, identity.token)) found = &identity;
    }
    return found;
}

}  // namespace opid
