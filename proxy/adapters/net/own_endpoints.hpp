#pragma once
// The addresses that opid listens on, so that it never connects to itself.
#include <cstdint>
#include <mutex>
#include <vector>

#include "adapters/net/egress_policy.hpp"

namespace opid {

enum class OwnEndpoint : std::uint8_t { none, proxy, admin };

// Thread-safe. A listener on all addresses covers every address of this machine, read anew now and then.
class OwnEndpoints {
public:
    void add(AddressAndPort endpoint, OwnEndpoint kind);
    OwnEndpoint find(const http::IpAddress& address, std::uint16_t port) const;

private:
    struct Entry {
        AddressAndPort at;
        OwnEndpoint kind;
    };
    bool is_of_this_machine(const http::IpAddress& address) const;
    mutable std::mutex mutex_;
    std::vector<Entry> entries_;
};

}  // namespace opid
