#pragma once
// Counters of the engine, and the Prometheus text of everything. Counting is one relaxed atomic add.
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/answer/problem.hpp"
#include "engine/ports/observer.hpp"

namespace opid {

// A value that somebody else keeps, read when the metrics are asked for. Samples of one name follow each other.
struct MetricSample {
    std::string name;  // "opid_…"; counters end in _total
    std::string help;
    bool counter = true;  // else a gauge
    std::vector<std::pair<std::string, std::string>> labels;
    double value = 0;
};

class Metrics final : public Observer {
public:
    void moved(const Operation& operation, const HistoryEvent& event) noexcept override;
    void answered(std::string_view provider, std::string_view kind) noexcept override;
    void trouble(std::string_view where, std::string_view what) noexcept override;

    // Text exposition format 0.0.4 of these counters and of `further`.
    std::string text(const std::vector<MetricSample>& further) const;
    static constexpr std::string_view media_type = "text/plain; version=0.0.4; charset=utf-8";

private:
    using Count = std::atomic<std::uint64_t>;
    static constexpr std::size_t statuses = 9;  // OperationStatus counts from 1
    static constexpr std::size_t problems = static_cast<std::size_t>(ProblemKind::version) + 1;

    std::vector<MetricSample> own_samples() const;

    std::array<std::array<Count, statuses>, statuses> transitions_{};
    std::array<Count, problems> problems_{};
    Count replays_{0};
    Count joined_{0};
    Count other_answers_{0};
    Count troubles_{0};
};

}  // namespace opid
