#include "adapters/http/tenant_gate.hpp"

#include <algorithm>

#include "base/encoding.hpp"

namespace opid {

namespace {

constexpr std::size_t tenant_chars_max = 128;
constexpr std::size_t credential_chars_max = 8192;

// Takes the same time wherever the digests differ.
bool same(const Digest& a, const Digest& b) {
    unsigned difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
    return difference == 0;
}

bool is_tenant_name(std::string_view name) {
    return !name.empty() && name.size() <= tenant_chars_max &&
           std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace

std::optional<std::string> TenantGate::identify(const http::FieldList& fields, bool loopback) const {
    if (tenants_.empty()) {
        if (!loopback) return std::nullopt;
        const auto named = fields.get("operation-tenant");
        if (named) return std::string(*named);
        return "default";
    }
    const std::vector<std::string_view> lines = fields.values("proxy-authorization");
    if (lines.empty() || std::any_of(lines.begin(), lines.end(), [&](auto line) { return line != lines.front(); })) {
        return std::nullopt;  // two different ones name nobody
    }
    const std::string_view credential = lines.front();
    if (credential.size() > credential_chars_max) return std::nullopt;
    const std::size_t blank = credential.find(' ');
    if (blank == std::string_view::npos) return std::nullopt;
    const std::string_view scheme = credential.substr(0, blank);
    const std::string text = std::string(trim_blank(credential.substr(blank)));
    if (equal_ignoring_case(scheme, "bearer")) return by_token(text, {}, true);
    if (!equal_ignoring_case(scheme, "basic")) return std::nullopt;
    const auto pair = from_base64(text);
    if (!pair) return std::nullopt;
    const std::size_t colon = pair->find(':');
    if (colon == std::string::npos) return std::nullopt;
    const std::string_view whole(*pair);
    return by_token(whole.substr(colon + 1), whole.substr(0, colon), false);
}

bool TenantGate::misnamed(const http::FieldList& fields) const {
    if (!open()) return false;
    const std::vector<std::string_view> named = fields.values("operation-tenant");
    return std::any_of(named.begin(), named.end(),
                       [&](std::string_view name) { return !is_tenant_name(name) || name != named.front(); });
}

std::optional<std::string> TenantGate::by_token(std::string_view token, std::string_view name, bool any_name) const {
    const Digest given = sha256(token);
    const TenantCredentials* found = nullptr;
    for (const TenantCredentials& tenant : tenants_) {
        for (const Digest& known : tenant.tokens) {
            if (same(given, known)) found = &tenant;
        }
    }
    if (found == nullptr || (!any_name && found->name != name)) return std::nullopt;
    return found->name;
}

}  // namespace opid
