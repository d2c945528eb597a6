#pragma once
// Who is calling: Proxy-Authorization against the configured tenants.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/http/data_plane_options.hpp"
#include "core/http/fields.hpp"

namespace opid {

class TenantGate {
public:
    explicit TenantGate(std::vector<TenantCredentials> tenants) : tenants_(std::move(tenants)) {}

    // The caller's tenant; nothing when it isn't let in. Without configured tenants loopback callers are "default", or
    // whom their Operation-Tenant names.
    std::optional<std::string> identify(const http::FieldList& fields, bool loopback) const;
    bool open() const { return tenants_.empty(); }
    // Whether an Operation-Tenant that counts here is no name, or two.
    bool misnamed(const http::FieldList& fields) const;

private:
    std::optional<std::string> by_token(std::string_view token, std::string_view name, bool any_name) const;
    std::vector<TenantCredentials> tenants_;
};

}  // namespace opid
