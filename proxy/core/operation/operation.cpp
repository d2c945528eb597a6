#include "core/operation/operation.hpp"

#include <algorithm>
#include <iterator>

namespace opid {
namespace {

// Length-prefixed, so that no two different lists of parts give the same bytes.
void add_part(Sha256& digest, std::string_view part) {
    char length[8];
    for (int i = 0; i < 8; ++i) length[i] = static_cast<char>(static_cast<std::uint64_t>(part.size()) >> (56 - 8 * i));
    digest.update({length, sizeof length});
    digest.update(part);
}

}  // namespace

OperationKey operation_key(std::string_view tenant, std::string_view scope, std::string_view id) {
    Sha256 tenant_digest;
    tenant_digest.update("opid-tenant-1");
    add_part(tenant_digest, tenant);
    const Digest first = tenant_digest.finish();

    Sha256 key_digest;
    key_digest.update("opid-key-1");
    add_part(key_digest, tenant);
    add_part(key_digest, scope);
    add_part(key_digest, id);
    const Digest rest = key_digest.finish();

    OperationKey key;
    std::copy_n(first.begin(), 8, key.bytes.begin());
    std::copy_n(rest.begin(), 24, key.bytes.begin() + 8);
    return key;
}

std::vector<HistoryEvent> spill_history(Operation& operation) {
    std::vector<HistoryEvent> spilled;
    if (operation.history.size() <= inline_history_max) return spilled;
    // Down to half, so that a long history is spilled in chunks and not event by event.
    const auto keep = static_cast<std::ptrdiff_t>(inline_history_max / 2);
    const auto first_kept = operation.history.end() - keep;
    spilled.assign(std::make_move_iterator(operation.history.begin()), std::make_move_iterator(first_kept));
    operation.history.erase(operation.history.begin(), first_kept);
    return spilled;
}

}  // namespace opid
