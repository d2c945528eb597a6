#pragma once
// The process that serves: owns every part, in one order, and takes it through its phases.
#include <atomic>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>
#include <thread>

#include "adapters/http/data_plane.hpp"
#include "adapters/http/upstream_client.hpp"
#include "adapters/net/outbound.hpp"
#include "adapters/settings/settings.hpp"
#include "adapters/store/rocksdb/rocks_store.hpp"
#include "adapters/system/system_entropy.hpp"
#include "adapters/system/system_timers.hpp"
#include "adapters/telemetry/fan_out.hpp"
#include "adapters/telemetry/log.hpp"
#include "adapters/telemetry/log_observer.hpp"
#include "adapters/telemetry/metrics.hpp"
#include "adapters/tls/interceptor.hpp"
#include "app/application_hooks.hpp"
#include "app/background.hpp"
#include "app/deadline_store.hpp"
#include "app/policy_desk.hpp"
#include "surfaces/admin/admin_api.hpp"
#include "surfaces/admin/admin_server.hpp"

namespace opid {

enum class Phase : unsigned char { loading, opening_store, recovering, listening, serving, draining, stopped };
std::string_view to_word(Phase phase);
std::string_view opid_version();

struct ServeOptions {
    std::string config;  // --config; empty: searched for
    std::string data;    // --data; empty: as configured
    bool accept_restore = false;
};

class Application final : public AdminHost {
public:
    Application(ServeOptions options, ApplicationHooks hooks, std::ostream& out, std::ostream& err);
    ~Application() override;
    Application(const Application&) = delete;
    Application& operator=(const Application&) = delete;

    // Starts, serves until a signal (or stop()), drains. The process's exit code. Prints a line for each listener and
    // then `ready` to `out`; what keeps it from starting to `err`.
    int run();
    // As SIGTERM; any thread, once serving.
    void stop();
    Phase phase() const { return phase_.load(); }

    Readiness readiness() override;
    std::string metrics_text() override;
    ReloadReport reload_policies(std::string actor) override;
    Task<Result<SweepResult>> sweep() override;
    Task<Result<std::string>> backup(std::string folder) override;
    AuthorityView authority() override;
    Result<AuthorityView> rotate_authority(std::string actor) override;
    std::string_view version() const override { return opid_version(); }

private:
    bool load();          // settings, log, policies
    Status open_store();  // data folder, store, epoch
    Status build();       // engine and everything that sends
    Status open_authority();
    Status recover();
    Status listen();
    void serve();
    void await_signals();
    void signalled(int number);
    void drain();
    void close();

    ServeOptions options_;
    ApplicationHooks hooks_;
    std::ostream& out_;
    std::ostream& err_;
    std::atomic<Phase> phase_{Phase::loading};

    SystemTimers timers_;
    SystemEntropy entropy_;
    Settings settings_;
    std::unique_ptr<Log> log_;
    std::unique_ptr<PolicyDesk> policies_;
    std::unique_ptr<LogObserver> log_observer_;
    Metrics metrics_;
    EventFeed events_;
    std::unique_ptr<FanOut> observer_;
    NodeIdentity node_;

    std::unique_ptr<OperationStore> wrapped_store_;  // of a hook
    std::unique_ptr<DeadlineStore> store_;
    std::unique_ptr<Outbound> outbound_;
    std::unique_ptr<Interceptor> interceptor_;
    std::unique_ptr<UpstreamClient> upstream_;
    std::unique_ptr<Upstream> wrapped_upstream_;  // of a hook
    std::unique_ptr<WriteCoordinator> engine_;
    std::unique_ptr<AdminApi> admin_api_;

    struct Control;
    std::unique_ptr<Control> control_;  // signals
    std::unique_ptr<Background> background_;
    std::unique_ptr<AdminServer> admin_server_;
    std::thread admin_thread_;
    std::thread drain_thread_;
    std::unique_ptr<DataPlane> data_plane_;
    // The last: its destructor finishes what is queued and posts to the contexts of the parts above.
    std::unique_ptr<RocksStore> rocks_;
};

}  // namespace opid
