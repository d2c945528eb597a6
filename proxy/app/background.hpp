#pragma once
// The work that nobody asks for: open operations whose next step is due, retention, an eye on the store. One thread.
#include <atomic>
#include <memory>
#include <thread>

#include "adapters/telemetry/log.hpp"
#include "engine/write_coordinator.hpp"

namespace opid {

struct BackgroundTimes {
    Millis sweep{10000};        // open operations
    Millis retention{3600000};  // final ones
    Millis store_check{1000};
    Millis records_kept{0};
    Millis tombstones_kept{0};
};

class Background {
public:
    // Everything outlives this, but for the store, which has to go first: its destructor posts to the context in here.
    Background(WriteCoordinator& engine, OperationStore& store, const ProfileBoard& profiles, Timers& timers, Log& log,
               BackgroundTimes times);
    ~Background();  // stop()
    Background(const Background&) = delete;
    Background& operator=(const Background&) = delete;

    void start();
    void stop();  // joins the thread

    // One round of both sweeps; on the executor that awaits it.
    Task<Result<SweepResult>> sweep_all();

private:
    Task<> sweep_loop();
    Task<> retention_loop();
    Task<> store_loop();
    Task<Status> sweep_open(DuePlace& place);
    Task<Result<SweepResult>> sweep_final();
    void note_health();

    WriteCoordinator& engine_;
    OperationStore& store_;
    const ProfileBoard& profiles_;
    Timers& timers_;
    Log& log_;
    BackgroundTimes times_;
    StoreHealth last_;
    std::thread thread_;
    boost::asio::io_context context_{1};
};

}  // namespace opid
