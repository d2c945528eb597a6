#include "adapters/telemetry/fan_out.hpp"

namespace opid {

void FanOut::moved(const Operation& operation, const HistoryEvent& event) noexcept {
    for (Observer* listener : listeners_) listener->moved(operation, event);
}

void FanOut::answered(std::string_view provider, std::string_view kind) noexcept {
    for (Observer* listener : listeners_) listener->answered(provider, kind);
}

void FanOut::trouble(std::string_view where, std::string_view what) noexcept {
    for (Observer* listener : listeners_) listener->trouble(where, what);
}

}  // namespace opid
