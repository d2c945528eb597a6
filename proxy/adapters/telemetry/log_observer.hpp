#pragma once
// Transitions, answers and trouble as log lines. The everyday ones (prepared, claimed, ended) are debug; what a person
// should see is info (doubt, review, an operator's word), trouble is a warning, at most a few a second of each kind.
#include <array>
#include <atomic>
#include <cstdint>

#include "adapters/telemetry/log.hpp"
#include "engine/ports/observer.hpp"
#include "engine/ports/timers.hpp"

namespace opid {

class LogObserver final : public Observer {
public:
    // Both outlive this.
    LogObserver(Log& log, const Timers& timers) : log_(log), timers_(timers) {}

    void moved(const Operation& operation, const HistoryEvent& event) noexcept override;
    void answered(std::string_view provider, std::string_view kind) noexcept override;
    void trouble(std::string_view where, std::string_view what) noexcept override;

    static LogSeverity severity_of(const HistoryEvent& event) noexcept;

private:
    static constexpr std::uint64_t trouble_lines_max = 20;  // a second; the rest is counted and told with the next

    Log& log_;
    const Timers& timers_;
    std::atomic<std::int64_t> second_{0};
    std::atomic<std::uint64_t> lines_{0};
    std::atomic<std::uint64_t> withheld_{0};
};

}  // namespace opid
