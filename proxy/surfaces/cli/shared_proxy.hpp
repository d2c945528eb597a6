#pragma once
// A running proxy for a command: the one that is there, else one of our own. Several commands at a time share a proxy
// that one of them has started, and the last one out stops it; one that a person or a service manager runs stays.
//
// Files in the data folder: run.gate is locked while a command comes or goes; run.users is locked, shared, while one
// uses the proxy; run.started names the process that a command has started; run.log has what that process says.
#include <cstdint>
#include <ostream>
#include <string>

#include "base/result.hpp"
#include "surfaces/cli/child_process.hpp"
#include "surfaces/cli/cli_host.hpp"

namespace opid {

// What a data folder's own opid says of itself.
struct ProxyState {
    enum class Kind { nobody, ours, stranger } kind = Kind::nobody;
    bool ready = false;
    std::string version;
    std::string fingerprint;  // of its CA; empty: not told
    std::int64_t profiles = 0;
    std::string text;  // what is wrong, for people
};
// Asks at the admin address with the token that lies in the data folder: only the opid of this folder takes it.
ProxyState proxy_state(const CliSettings& found);

class SharedProxy {
public:
    // config and data as given on the command line.
    SharedProxy(CliHost& host, std::string config, std::string data, SignalWatch& signals, std::ostream& err)
        : host_(host),
          config_(std::move(config)),
          data_(std::move(data)),
          signals_(signals),
          err_(err) {}
    ~SharedProxy() { leave(); }
    SharedProxy(const SharedProxy&) = delete;
    SharedProxy& operator=(const SharedProxy&) = delete;

    // Finds or starts it; the data folder must be there. Returns its address, "127.0.0.1:8080".
    Result<std::string> enter(const CliSettings& found);
    // Stops it if it was started by a command and nobody else uses it, and waits for its drain. A signal ends the
    // waiting, not the drain.
    void leave();
    bool started() const { return child_ > 0; }
    // Says so, once, should the proxy have ended while it is needed.
    void check();
    int interrupted() const { return interrupted_; }  // the signal that ended enter()

private:
    Status lock_gate();
    Result<std::string> start();
    Status await_ready(const std::string& log, std::int64_t log_begin);
    Error ended_early(const std::string& log, std::int64_t log_begin);
    void stop_process(pid_t pid);
    bool gone(pid_t pid);

    CliHost& host_;
    std::string config_;
    std::string data_;
    SignalWatch& signals_;
    std::ostream& err_;
    std::string folder_;
    int gate_ = -1;
    int users_ = -1;
    int output_ = -1;  // of the proxy that we started
    pid_t child_ = -1;
    bool child_ended_ = false;
    int interrupted_ = 0;
};

}  // namespace opid
