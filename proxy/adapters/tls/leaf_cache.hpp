#pragma once
// The leaves that are at hand, bounded; the least recently used one goes first.
#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>

#include "adapters/tls/certificate_authority.hpp"

namespace opid {

// Not thread-safe.
class LeafCache {
public:
    explicit LeafCache(std::size_t most) : most_(most) {}

    // null: not there, or not to be used at `now`, whichever way the clock went.
    CertificatePtr find(const std::string& name, Instant now);
    bool put(const std::string& name, Leaf leaf);  // in place of an older one; true: another had to go
    void clear();
    std::size_t size() const { return by_age_.size(); }

private:
    using Entries = std::list<std::pair<std::string, Leaf>>;
    std::size_t most_;
    Entries by_age_;  // the latest used first
    std::unordered_map<std::string, Entries::iterator> by_name_;
};

}  // namespace opid
