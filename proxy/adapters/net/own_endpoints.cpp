#include "adapters/net/own_endpoints.hpp"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <cstring>

namespace opid {

namespace {

http::IpAddress plain(const http::IpAddress& address) {
    const auto inner = http::embedded_ipv4(address);
    return inner ? *inner : address;
}

bool is_unspecified(const http::IpAddress& address) {
    return http::classify(address) == http::AddressClass::unspecified;
}

}  // namespace

void OwnEndpoints::add(AddressAndPort endpoint, OwnEndpoint kind) {
    const std::lock_guard lock(mutex_);
    entries_.push_back({endpoint, kind});
}

OwnEndpoint OwnEndpoints::find(const http::IpAddress& address, std::uint16_t port) const {
    const std::lock_guard lock(mutex_);
    const http::IpAddress target = plain(address);
    for (const Entry& entry : entries_) {
        if (entry.at.port != port) continue;
        const http::IpAddress listened = plain(entry.at.ip);
        if (listened == target) return entry.kind;
        // Connecting to "any address" reaches this machine; so does every address of it when we listen on all.
        if (is_unspecified(target) || (is_unspecified(listened) && is_of_this_machine(target))) return entry.kind;
    }
    return OwnEndpoint::none;
}

bool OwnEndpoints::is_of_this_machine(const http::IpAddress& address) const {
    if (http::classify(address) == http::AddressClass::loopback) return true;
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) return false;
    bool found = false;
    for (const ifaddrs* at = list; at != nullptr && !found; at = at->ifa_next) {
        if (at->ifa_addr == nullptr) continue;
        if (at->ifa_addr->sa_family == AF_INET) {
            http::IpAddress::V4 bytes{};
            std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in*>(at->ifa_addr)->sin_addr, bytes.size());
            found = http::IpAddress(bytes) == address;
        } else if (at->ifa_addr->sa_family == AF_INET6) {
            http::IpAddress::V6 bytes{};
            std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6*>(at->ifa_addr)->sin6_addr, bytes.size());
            found = http::IpAddress(bytes) == address;
        }
    }
    ::freeifaddrs(list);
    return found;
}

}  // namespace opid
