#include "adapters/store/rocksdb/open_index.hpp"

#include <algorithm>

namespace opid {

bool OpenIndex::contains(const OperationKey& key) const {
    const Shard& at = shard(key);
    const std::lock_guard lock(at.mutex);
    return at.facts.count(key) != 0;
}

const RecordFacts* OpenIndex::find_as_writer(const OperationKey& key) const {
    const Shard& at = shard(key);
    const auto found = at.facts.find(key);
    return found == at.facts.end() ? nullptr : &found->second;
}

void OpenIndex::forget(const OperationKey& key, const RecordFacts& facts) {
    if (facts.status == OperationStatus::in_progress) --in_progress_;
    if (!has_due_date(facts)) return;
    const std::lock_guard lock(dates_mutex_);
    dates_.erase({facts.next_at, key});
}

void OpenIndex::put(const OperationKey& key, const RecordFacts& facts) {
    Shard& at = shard(key);
    RecordFacts before;
    bool is_new = false;
    {
        const std::lock_guard lock(at.mutex);
        const auto [place, inserted] = at.facts.try_emplace(key, facts);
        is_new = inserted;
        before = std::exchange(place->second, facts);
    }
    if (is_new) {
        ++size_;
    } else {
        forget(key, before);
    }
    if (facts.status == OperationStatus::in_progress) ++in_progress_;
    if (!has_due_date(facts)) return;
    const std::lock_guard lock(dates_mutex_);
    dates_.insert({facts.next_at, key});
}

void OpenIndex::erase(const OperationKey& key) {
    Shard& at = shard(key);
    RecordFacts before;
    {
        const std::lock_guard lock(at.mutex);
        const auto found = at.facts.find(key);
        if (found == at.facts.end()) return;
        before = found->second;
        at.facts.erase(found);
    }
    --size_;
    forget(key, before);
}

std::vector<OperationKey> OpenIndex::due(Instant until, const DuePlace& after, std::size_t limit) const {
    std::vector<OperationKey> keys;
    const std::lock_guard lock(dates_mutex_);
    for (auto at = dates_.upper_bound(after); at != dates_.end(); ++at) {
        if (at->at > until || keys.size() == limit) break;
        keys.push_back(at->key);
    }
    return keys;
}

std::vector<OperationKey> OpenIndex::in_progress() const {
    std::vector<ListPlace> found;
    for (const Shard& at : shards_) {
        const std::lock_guard lock(at.mutex);
        for (const auto& [key, facts] : at.facts) {
            if (facts.status == OperationStatus::in_progress) found.push_back({facts.created, key});
        }
    }
    std::sort(found.begin(), found.end());
    std::vector<OperationKey> keys;
    keys.reserve(found.size());
    for (const ListPlace& place : found) keys.push_back(place.key);
    return keys;
}

std::vector<OperationKey> OpenIndex::retirable(Instant records_kept_until, std::size_t limit) const {
    std::vector<OperationKey> keys;
    for (const Shard& at : shards_) {
        const std::lock_guard lock(at.mutex);
        for (const auto& [key, facts] : at.facts) {
            if (keys.size() == limit) return keys;
            if (may_retire(facts, records_kept_until)) keys.push_back(key);
        }
    }
    return keys;
}

std::vector<ListPlace> OpenIndex::places(const ListQuery& query, const std::optional<ListPlace>& cursor,
                                         std::size_t limit) const {
    std::vector<ListPlace> found;
    for (const Shard& at : shards_) {
        const std::lock_guard lock(at.mutex);
        for (const auto& [key, facts] : at.facts) {
            const ListPlace place{facts.created, key};
            if ((!cursor || place < *cursor) && may_match(query, key, facts)) found.push_back(place);
        }
    }
    const std::size_t wanted = std::min(limit, found.size());
    const auto end = found.begin() + static_cast<std::ptrdiff_t>(wanted);
    std::partial_sort(found.begin(), end, found.end(), std::greater<>());
    found.resize(wanted);
    return found;
}

}  // namespace opid
