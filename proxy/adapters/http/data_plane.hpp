#pragma once
// The listeners and I/O threads that serve callers. Each thread has its own io_context, acceptors, buffers and
// upstream pool; a connection stays on the thread that accepted it.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "adapters/http/data_plane_options.hpp"
#include "adapters/http/metrics.hpp"
#include "adapters/net/outbound.hpp"
#include "adapters/tls/interceptor.hpp"
#include "base/result.hpp"
#include "engine/guarded_write.hpp"
#include "engine/ports/entropy.hpp"
#include "engine/ports/observer.hpp"
#include "engine/ports/operation_store.hpp"
#include "engine/ports/timers.hpp"
#include "engine/profile_board.hpp"

namespace opid {

// WriteCoordinator::handle, or what stands in for it. Called on I/O threads; the sink lives until it returns.
using GuardedHandler = std::function<Task<GuardedAnswer>(GuardedWrite, ResponseSink*)>;

// What the data plane works with. All of it outlives the DataPlane.
struct DataPlaneParts {
    Outbound& outbound;
    const ProfileBoard& profiles;
    GuardedHandler guarded;
    OperationStore& store;
    Timers& timers;
    Entropy& entropy;
    Observer& observer;
    Interceptor* interceptor = nullptr;  // null: CONNECT to a profile's host is refused
};

struct BoundAddresses {
    AddressAndPort proxy;
    std::vector<std::pair<std::string, AddressAndPort>> providers;
};

class DataPlane {
public:
    DataPlane(DataPlaneOptions options, DataPlaneParts parts);
    ~DataPlane();  // stop()
    DataPlane(const DataPlane&) = delete;
    DataPlane& operator=(const DataPlane&) = delete;

    // Binds everything and serves. Error (unavailable): the address can't be had; nothing runs then.
    Result<BoundAddresses> start();

    // Stops accepting, ends idle connections, lets running requests end and says close in their answers. Returns
    // whether all had ended within `patience`. Blocks; any thread but the I/O ones.
    bool drain(Millis patience);

    // Ends what is left at once and joins the threads.
    void stop();

    std::vector<const DataPlaneMetrics*> metrics() const;  // one a thread; valid while this lives
    std::size_t threads() const;
    // The io_context of one I/O thread, for background work that sends: its pool and deadlines are there.
    boost::asio::io_context& context(std::size_t thread);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace opid
