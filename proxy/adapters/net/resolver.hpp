#pragma once
// Names to addresses on a few threads of its own, so that one slow name holds up nobody else; answers are kept for a
// short while. Bounded in names cached, names asked for at a time and waiters.
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "core/http/ip_address.hpp"
#include "engine/task.hpp"

namespace opid {

struct ResolverOptions {
    std::size_t threads = 6;
    std::size_t names_kept = 4096;
    std::size_t names_asked = 1024;  // at a time
    Millis keep{10'000};
    Millis keep_failure{1'000};
};

// Thread-safe. Its destructor waits for look-ups that run.
class Resolver {
public:
    using Addresses = std::vector<http::IpAddress>;
    // In place of the system's resolver, for tests. Called on the resolver's threads.
    using LookUp = Result<Addresses> (*)(const std::string& host);

    explicit Resolver(ResolverOptions options = {}, LookUp look_up = nullptr);
    ~Resolver();
    Resolver(const Resolver&) = delete;
    Resolver& operator=(const Resolver&) = delete;

    // localhost and names below it are this machine, whatever a name service would say (RFC 6761 section 6.3).
    // Errors: not_found (no such name, no address), timeout, unavailable (the name service failed), overloaded.
    Task<Result<Addresses>> resolve(std::string host, Millis budget);

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace opid
