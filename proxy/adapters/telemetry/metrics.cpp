#include "adapters/telemetry/metrics.hpp"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <sstream>

namespace opid {
namespace {

std::size_t index_of(OperationStatus status) {
    const auto index = static_cast<std::size_t>(status);
    return index <= 8 ? index : 0;
}

double as_double(const std::atomic<std::uint64_t>& count) {
    return static_cast<double>(count.load(std::memory_order_relaxed));
}

prometheus::ClientMetric to_client_metric(const MetricSample& sample) {
    prometheus::ClientMetric metric;
    for (const auto& [name, value] : sample.labels) {
        prometheus::ClientMetric::Label label;
        label.name = name;
        label.value = value;
        metric.label.push_back(std::move(label));
    }
    if (sample.counter) {
        metric.counter.value = sample.value;
    } else {
        metric.gauge.value = sample.value;
    }
    return metric;
}

void add_families(std::vector<prometheus::MetricFamily>& families, const std::vector<MetricSample>& samples) {
    for (const MetricSample& sample : samples) {
        if (families.empty() || families.back().name != sample.name) {
            prometheus::MetricFamily family;
            family.name = sample.name;
            family.help = sample.help;
            family.type = sample.counter ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
            families.push_back(std::move(family));
        }
        families.back().metric.push_back(to_client_metric(sample));
    }
}

}  // namespace

void Metrics::moved(const Operation&, const HistoryEvent& event) noexcept {
    transitions_[index_of(event.from)][index_of(event.to)].fetch_add(1, std::memory_order_relaxed);
}

void Metrics::answered(std::string_view, std::string_view kind) noexcept {
    if (kind == "replay") {
        replays_.fetch_add(1, std::memory_order_relaxed);
    } else if (kind == "joined") {
        joined_.fetch_add(1, std::memory_order_relaxed);
    } else if (const auto problem = problem_from_slug(kind)) {
        problems_[static_cast<std::size_t>(*problem)].fetch_add(1, std::memory_order_relaxed);
    } else {
        other_answers_.fetch_add(1, std::memory_order_relaxed);
    }
}

void Metrics::trouble(std::string_view, std::string_view) noexcept {
    troubles_.fetch_add(1, std::memory_order_relaxed);
}

std::vector<MetricSample> Metrics::own_samples() const {
    std::vector<MetricSample> samples;
    for (const OperationStatus from : all_statuses) {
        for (const OperationStatus to : all_statuses) {
            const double value = as_double(transitions_[index_of(from)][index_of(to)]);
            if (value == 0) continue;
            samples.push_back({"opid_operation_transitions_total",
                               "Durable transitions of operations",
                               true,
                               {{"from", std::string(to_word(from))}, {"to", std::string(to_word(to))}},
                               value});
        }
    }
    const std::string answers = "opid_answers_total";
    const std::string help = "Stored answers and answers of opid's own to guarded writes, by kind";
    samples.push_back({answers, help, true, {{"kind", "replay"}}, as_double(replays_)});
    samples.push_back({answers, help, true, {{"kind", "joined"}}, as_double(joined_)});
    for (std::size_t i = 0; i < problems; ++i) {
        const double value = as_double(problems_[i]);
        if (value == 0) continue;
        const std::string slug(traits(static_cast<ProblemKind>(i)).slug);
        samples.push_back({answers, help, true, {{"kind", slug}}, value});
    }
    if (other_answers_.load(std::memory_order_relaxed) > 0) {
        samples.push_back({answers, help, true, {{"kind", "other"}}, as_double(other_answers_)});
    }
    samples.push_back({"opid_troubles_total", "Troubles told to the log", true, {}, as_double(troubles_)});
    return samples;
}

std::string Metrics::text(const std::vector<MetricSample>& further) const {
    std::vector<prometheus::MetricFamily> families;
    add_families(families, own_samples());
    add_families(families, further);
    std::ostringstream out;
    prometheus::TextSerializer().Serialize(out, families);
    return out.str();
}

}  // namespace opid
