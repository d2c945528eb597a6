#include "surfaces/admin/operation_lookup.hpp"

#include <algorithm>

namespace opid {
namespace {

constexpr std::size_t candidates_max = 10;

std::vector<std::string> scopes_of(const OperationQuery& query, const ProfileSet& profiles) {
    std::vector<std::string> scopes{""};
    if (!query.provider.empty()) {
        scopes.push_back(query.provider);
        return scopes;
    }
    for (const ProfilePtr& profile : profiles.all()) scopes.push_back(profile->provider);
    return scopes;
}

bool fits(const Operation& operation, const OperationQuery& query) {
    return query.provider.empty() || operation.provider == query.provider;
}

void add(FoundOperations& found, Operation operation) {
    const bool known = std::any_of(found.operations.begin(), found.operations.end(),
                                   [&operation](const Operation& other) { return other.key == operation.key; });
    if (!known) found.operations.push_back(std::move(operation));
}

Task<Status> add_listed(OperationStore& store, OperationQuery query, FoundOperations& found) {
    ListQuery list;
    list.id = query.id;
    list.tenant = query.tenant;
    list.provider = query.provider;
    list.limit = candidates_max;
    Result<ListPage> page = co_await store.list(std::move(list));
    if (!page) co_return page.error();
    for (Operation& operation : page->operations) add(found, std::move(operation));
    co_return ok();
}

}  // namespace

Task<Result<FoundOperations>> find_operations(OperationStore& store, OperationQuery query,
                                              std::vector<std::string> tenants, ProfileSetPtr profiles) {
    FoundOperations found;
    if (!query.tenant.empty()) tenants = {query.tenant};
    const std::vector<std::string> scopes = scopes_of(query, *profiles);
    for (const std::string& tenant : tenants) {
        for (const std::string& scope : scopes) {
            Result<Loaded> loaded = co_await store.load(operation_key(tenant, scope, query.id));
            if (!loaded) co_return loaded.error();
            if (auto* operation = std::get_if<Operation>(&*loaded)) {
                if (fits(*operation, query)) add(found, std::move(*operation));
            } else if (const auto* tombstone = std::get_if<Tombstone>(&*loaded)) {
                found.tombstones.emplace_back(tenant, *tombstone);
            }
        }
    }
    if (!found.operations.empty() || !found.tombstones.empty()) co_return found;
    const Status listed = co_await add_listed(store, query, found);
    if (!listed) co_return listed.error();
    co_return found;
}

}  // namespace opid
