#include "app/settings_mapping.hpp"

#include <fmt/format.h>

#include "core/http/ip_address.hpp"

namespace opid {
namespace {

Result<AddressAndPort> address_from(std::string_view name, const HostPort& given) {
    const auto ip = http::parse_ip(given.host == "localhost" ? std::string_view("127.0.0.1") : given.host);
    if (!ip) return Error(ErrorKind::invalid, fmt::format("{}: '{}' is no IP address", name, given.host));
    AddressAndPort address;
    address.ip = *ip;
    address.port = given.port;
    return address;
}

Role role_of(AdminRole role) {
    switch (role) {
        case AdminRole::viewer: return Role::viewer;
        case AdminRole::approver: return Role::approver;
        case AdminRole::operator_: return Role::operator_;
    }
    return Role::viewer;
}

AdminIdentity identity(std::string name, Role role, const Secret& token) {
    AdminIdentity made;
    made.name = std::move(name);
    made.role = role;
    made.token = sha256(token.reveal());
    return made;
}

}  // namespace

LogOptions log_options(const Settings& settings) {
    LogOptions options;
    options.json = settings.log_format == LogFormat::json;
    switch (settings.log_level) {
        case LogLevel::debug: options.least = LogSeverity::debug; break;
        case LogLevel::info: options.least = LogSeverity::info; break;
        case LogLevel::warning: options.least = LogSeverity::warning; break;
        case LogLevel::error: options.least = LogSeverity::error; break;
    }
    return options;
}

EngineLimits engine_limits(const Settings& settings) {
    EngineLimits limits;
    limits.upstream_response = settings.timeouts.upstream_response;
    limits.recovery = settings.timeouts.recovery;
    limits.wait = settings.timeouts.wait;
    limits.wait_max = settings.timeouts.wait_max;
    limits.lease = settings.timeouts.lease;
    limits.kept_response = settings.limits.kept_response;
    limits.decoded_body = settings.limits.decoded_body;
    limits.waiters_per_operation = static_cast<std::uint32_t>(settings.limits.waiters);
    return limits;
}

http::HeadLimits head_limits(const Settings& settings) {
    http::HeadLimits limits;
    limits.head_bytes = settings.limits.head;
    limits.fields = settings.limits.fields;
    limits.target_bytes = settings.limits.target;
    limits.chunk_extension_bytes = settings.limits.chunk_extensions;
    limits.trailer_bytes = settings.limits.trailers;
    limits.interim_responses = static_cast<std::uint32_t>(settings.limits.interim);
    return limits;
}

OutboundOptions outbound_options(const Settings& settings) {
    OutboundOptions options;
    options.egress.deny = settings.egress.deny;
    options.egress.allow = settings.egress.allow;
    for (const auto& [name, address] : settings.egress.resolve) options.egress.resolve.emplace(name, address);
    options.timeouts.dns = settings.timeouts.connect;
    options.timeouts.connect = settings.timeouts.connect;
    options.timeouts.tls = settings.timeouts.tls;
    return options;
}

RocksOptions rocks_options(const Settings& settings, const std::string& node, const Timers& timers) {
    RocksOptions options;
    options.directory = settings.data;
    options.node = node;
    options.queue_commits_max = settings.limits.store_queue;
    options.low_disk_bytes = settings.limits.disk_reserve;
    options.now = [&timers] { return timers.now(); };
    return options;
}

Result<DataPlaneOptions> data_plane_options(const Settings& settings) {
    DataPlaneOptions options;
    Result<AddressAndPort> proxy = address_from("listen.proxy", settings.listen.proxy);
    if (!proxy) return proxy.error();
    options.proxy = *proxy;
    for (const auto& [name, given] : settings.listen.providers) {
        Result<AddressAndPort> address = address_from("listen.providers." + name, given);
        if (!address) return address.error();
        options.providers.emplace_back(name, *address);
    }
    for (const TenantSettings& tenant : settings.tenants) {
        TenantCredentials credentials;
        credentials.name = tenant.name;
        for (const Secret& token : tenant.tokens) credentials.tokens.push_back(sha256(token.reveal()));
        options.tenants.push_back(std::move(credentials));
    }
    options.via = settings.via;
    options.spool_directory = settings.data + "/spool";
    options.threads = settings.threads;
    options.limits.head = head_limits(settings);
    options.limits.request_body = settings.limits.request_body;
    options.limits.decoded_body = settings.limits.decoded_body;
    options.limits.memory_body = settings.limits.memory_body;
    options.limits.stored_response = settings.limits.stored_response;
    options.limits.bodies_in_flight = settings.limits.body_memory;
    options.limits.spooled_bodies = settings.limits.spool;
    options.limits.upstream_idle = settings.limits.upstream_idle;
    options.limits.connections = settings.limits.connections;
    options.limits.guarded_in_flight = settings.limits.guarded;
    options.timeouts.head = settings.timeouts.head;
    options.timeouts.idle = settings.timeouts.idle;
    options.timeouts.body_stall = settings.timeouts.body_stall;
    options.timeouts.sniff = settings.timeouts.sniff;
    options.timeouts.tls = settings.timeouts.tls;
    options.h2_only = settings.interception.h2_only == H2OnlyClients::blind ? H2Only::blind : H2Only::refuse;
    options.timeouts.drain = settings.timeouts.drain;
    return options;
}

AdminServerOptions admin_server_options(const Settings& settings) {
    AdminServerOptions options;
    options.host = settings.listen.admin.host == "localhost" ? "127.0.0.1" : settings.listen.admin.host;
    options.port = settings.listen.admin.port;
    options.body_max = settings.limits.admin_body;
    options.event_clients_max = settings.limits.events;
    return options;
}

std::vector<AdminIdentity> admin_identities(const Settings& settings, const Secret& file_token) {
    std::vector<AdminIdentity> identities;
    identities.push_back(identity("admin", Role::operator_, file_token));
    for (const AdminToken& token : settings.admin_tokens) {
        identities.push_back(identity(token.name, role_of(token.role), token.token));
    }
    return identities;
}

std::vector<std::string> tenant_names(const Settings& settings) {
    std::vector<std::string> names;
    for (const TenantSettings& tenant : settings.tenants) names.push_back(tenant.name);
    if (names.empty()) names.emplace_back("default");
    return names;
}

}  // namespace opid
