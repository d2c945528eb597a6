#pragma once
// One observer that tells several: log, metrics and the event feed hear the same calls.
#include <vector>

#include "engine/ports/observer.hpp"

namespace opid {

class FanOut final : public Observer {
public:
    // Listeners outlive this.
    explicit FanOut(std::vector<Observer*> listeners) : listeners_(std::move(listeners)) {}

    void moved(const Operation& operation, const HistoryEvent& event) noexcept override;
    void answered(std::string_view provider, std::string_view kind) noexcept override;
    void trouble(std::string_view where, std::string_view what) noexcept override;

private:
    std::vector<Observer*> listeners_;
};

}  // namespace opid
