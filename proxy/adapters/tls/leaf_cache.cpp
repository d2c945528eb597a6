#include "adapters/tls/leaf_cache.hpp"

namespace opid {

CertificatePtr LeafCache::find(const std::string& name, Instant now) {
    const auto known = by_name_.find(name);
    if (known == by_name_.end()) return nullptr;
    const Leaf& leaf = known->second->second;
    if (now < leaf.usable_from || now >= leaf.renew_at) return nullptr;
    by_age_.splice(by_age_.begin(), by_age_, known->second);
    return leaf.certificate;
}

bool LeafCache::put(const std::string& name, Leaf leaf) {
    if (most_ == 0) return false;
    const auto known = by_name_.find(name);
    if (known != by_name_.end()) {
        known->second->second = std::move(leaf);
        by_age_.splice(by_age_.begin(), by_age_, known->second);
        return false;
    }
    const bool full = by_age_.size() >= most_;
    if (full) {
        by_name_.erase(by_age_.back().first);
        by_age_.pop_back();
    }
    by_age_.emplace_front(name, std::move(leaf));
    by_name_.emplace(name, by_age_.begin());
    return full;
}

void LeafCache::clear() {
    by_name_.clear();
    by_age_.clear();
}

}  // namespace opid
