#include "adapters/telemetry/log_observer.hpp"

#include <string>

namespace opid {

LogSeverity LogObserver::severity_of(const HistoryEvent& event) noexcept {
    const bool everyday = event.what == "claimed" || event.what == "answered" || event.what == "not_sent" ||
                          event.what == "registered";
    const bool in_doubt = event.to == OperationStatus::unknown || event.to == OperationStatus::needs_review;
    return everyday && !in_doubt ? LogSeverity::debug : LogSeverity::info;
}

void LogObserver::moved(const Operation& operation, const HistoryEvent& event) noexcept {
    const LogSeverity severity = severity_of(event);
    if (!log_.wants(severity)) return;
    log_.write(severity, "operation_moved",
               {{"what", event.what},
                {"from", to_word(event.from)},
                {"to", to_word(event.to)},
                {"operation_id", operation.id},
                {"tenant", operation.tenant},
                {"provider", operation.provider},
                {"rule", operation.rule},
                {"actor", event.actor}});
}

void LogObserver::answered(std::string_view provider, std::string_view kind) noexcept {
    if (!log_.wants(LogSeverity::debug)) return;
    log_.write(LogSeverity::debug, "answered", {{"provider", provider}, {"kind", kind}});
}

void LogObserver::trouble(std::string_view where, std::string_view what) noexcept {
    if (!log_.wants(LogSeverity::warning)) return;
    const std::int64_t second = to_unix_ms(timers_.now()) / 1000;
    if (second_.exchange(second, std::memory_order_relaxed) != second) lines_.store(0, std::memory_order_relaxed);
    if (lines_.fetch_add(1, std::memory_order_relaxed) >= trouble_lines_max) {
        withheld_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    const std::uint64_t withheld = withheld_.exchange(0, std::memory_order_relaxed);
    if (withheld == 0) {
        log_.write(LogSeverity::warning, "trouble", {{"where", where}, {"what", what}});
        return;
    }
    const std::string count = std::to_string(withheld);
    log_.write(LogSeverity::warning, "trouble", {{"where", where}, {"what", what}, {"lines_withheld", count}});
}

}  // namespace opid
