#include "surfaces/admin/admin_api.hpp"

#include <fmt/format.h>

#include "surfaces/admin/operation_json.hpp"
#include "surfaces/admin/operation_lookup.hpp"

namespace opid {
namespace {

constexpr std::string_view id_part = "{id}";

// Whether the path has the pattern's shape; fills `id`.
bool matches(std::string_view pattern, const AdminTarget& target, std::string& id) {
    pattern.remove_prefix(1);
    std::string found;
    for (const std::string& segment : target.segments) {
        const auto slash = pattern.find('/');
        const std::string_view part = pattern.substr(0, slash);
        if (part == id_part) {
            found = segment;
        } else if (part != segment) {
            return false;
        }
        const bool last = &segment == &target.segments.back();
        if ((slash == std::string_view::npos) != last) return false;
        if (!last) pattern.remove_prefix(slash + 1);
    }
    id = std::move(found);
    return true;
}

AdminReply refuse_method(const std::string& allowed) {
    AdminReply reply = problem_reply(405, "method-not-allowed", "This path has no such method",
                                     "Use one of these methods here: " + allowed + ".");
    reply.fields.emplace_back("Allow", allowed);
    return reply;
}

AdminReply refuse_token() {
    AdminReply reply = problem_reply(401, "unauthenticated", "A token is needed",
                                     "Send `Authorization: Bearer TOKEN` with a token of admin.tokens, or the one in "
                                     "admin.token in the data folder.");
    reply.fields.emplace_back("WWW-Authenticate", "Bearer realm=\"opid\"");
    return reply;
}

AdminReply refuse_role(Role has, Role needed) {
    return problem_reply(403, "forbidden", "The token's role does not allow this",
                         fmt::format("This needs the role {}; the token has {}.", to_word(needed), to_word(has)));
}

}  // namespace

std::span<const AdminApi::Route> AdminApi::routes() {
    static constexpr Route table[] = {
        {"GET", "/", Role::nobody, &AdminApi::index},
        {"GET", "/healthz", Role::nobody, &AdminApi::health},
        {"GET", "/readyz", Role::nobody, &AdminApi::ready},
        {"GET", "/metrics", Role::nobody, &AdminApi::metrics},
        {"GET", "/openapi.json", Role::viewer, &AdminApi::openapi},
        {"GET", "/v1/status", Role::viewer, &AdminApi::status},
        {"GET", "/v1/operations", Role::viewer, &AdminApi::list_operations},
        {"POST", "/v1/operations", Role::operator_, &AdminApi::create_operation},
        {"GET", "/v1/operations/{id}", Role::viewer, &AdminApi::show_operation},
        {"GET", "/v1/operations/{id}/history", Role::viewer, &AdminApi::show_history},
        {"POST", "/v1/operations/{id}/approval", Role::approver, &AdminApi::approve},
        {"POST", "/v1/operations/{id}/denial", Role::approver, &AdminApi::deny},
        {"POST", "/v1/operations/{id}/resolution", Role::operator_, &AdminApi::resolve},
        {"POST", "/v1/operations/{id}/recovery", Role::operator_, &AdminApi::recover},
        {"POST", "/v1/operations/{id}/cancellation", Role::operator_, &AdminApi::cancel},
        {"GET", "/v1/events", Role::viewer, &AdminApi::events},
        {"GET", "/v1/ca", Role::viewer, &AdminApi::show_authority},
        {"POST", "/v1/ca/rotation", Role::operator_, &AdminApi::rotate_authority},
        {"POST", "/v1/policies/reload", Role::operator_, &AdminApi::reload},
        {"POST", "/v1/store/sweep", Role::operator_, &AdminApi::sweep},
        {"POST", "/v1/store/backup", Role::operator_, &AdminApi::backup},
    };
    return table;
}

Task<AdminReply> AdminApi::handle(const AdminRequest& request) {
    if (!host_is_ours(request.host, address_) || !origin_is_ours(request.origin, request.host)) {
        co_return problem_reply(403, "foreign-host", "This name is not ours",
                                "Use localhost or the address that the admin API listens on; requests of foreign web "
                                "pages are refused.");
    }
    const std::optional<AdminTarget> target = parse_admin_target(request.target);
    if (!target)
        co_return problem_reply(400, "invalid", "The target is malformed", "The path or query has a broken %-escape.");
    const Route* found = nullptr;
    std::string id;
    std::string allowed;
    for (const Route& route : routes()) {
        if (!matches(route.pattern, *target, id)) continue;
        allowed += (allowed.empty() ? "" : ", ") + std::string(route.method);
        const bool head = request.method == "HEAD" && route.method == "GET";
        if (found == nullptr && (route.method == request.method || head)) found = &route;
    }
    if (found == nullptr || found->role != Role::nobody) {
        const AdminIdentity* identity = authenticate(request.authorization, parts_.identities);
        if (identity == nullptr) co_return refuse_token();
        if (found == nullptr && !allowed.empty()) co_return refuse_method(allowed);
        if (found == nullptr)
            co_return problem_reply(404, "not-found", "No such path", "See /openapi.json for the paths.");
        if (identity->role < found->role) co_return refuse_role(identity->role, found->role);
        const Call call{request, *target, std::move(id), identity->name};
        AdminReply reply = co_await (this->*found->handler)(call);
        co_return reply;
    }
    const Call call{request, *target, std::string(), std::string()};
    AdminReply reply = co_await (this->*found->handler)(call);
    co_return reply;
}

Task<std::optional<Operation>> AdminApi::find_one(const Call& call, AdminReply& refusal) {
    OperationQuery query;
    query.id = call.id;
    query.tenant = std::string(call.target.value("tenant"));
    query.provider = std::string(call.target.value("provider"));
    Result<FoundOperations> found = co_await find_operations(parts_.store, std::move(query), parts_.tenants,
                                                             parts_.profiles.current());
    if (!found) {
        refusal = error_reply(found.error());
        co_return std::nullopt;
    }
    if (found->operations.size() == 1) co_return std::move(found->operations.front());
    if (found->operations.size() > 1) {
        std::string candidates;
        for (const Operation& operation : found->operations) {
            candidates += (candidates.empty() ? "[" : ",") + operation_summary_json(operation);
        }
        refusal = problem_reply(409, "ambiguous", "The ID alone is not unique",
                                "Say which one with ?tenant= and ?provider=.", {{"candidates", candidates + "]"}});
        co_return std::nullopt;
    }
    if (found->tombstones.empty()) {
        refusal = problem_reply(404, "not-found", "No such operation", "No operation of this ID is recorded.");
        co_return std::nullopt;
    }
    const auto& [tenant, tombstone] = found->tombstones.front();
    refusal = problem_reply(410, "operation-expired", "This operation ID is used up",
                            "The record is past retention; the ID is never run again.",
                            {{"id", json_text(call.id)},
                             {"tenant", json_text(tenant)},
                             {"last_status", json_text(to_word(tombstone.status))},
                             {"created", json_text(format_instant(tombstone.created))},
                             {"retired", json_text(format_instant(tombstone.retired))}});
    co_return std::nullopt;
}

Task<AdminReply> AdminApi::apply(OperationKey key, Event event, std::string actor) {
    Result<Operation> moved = co_await parts_.engine.apply(key, std::move(event), std::move(actor), parts_.profiles);
    if (!moved) co_return error_reply(moved.error());
    co_return json_reply(operation_json(*moved));
}

}  // namespace opid
