// What a load run counted, and the one JSON line that tells it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "histogram.hpp"
#include "load_plan.hpp"

namespace opid::bench {

inline constexpr std::size_t samples_max = 3;

struct Tally {
    Histogram latency;
    Histogram handshake;  // from the client's first byte of TLS to its end
    std::uint64_t handshakes = 0;
    std::uint64_t resumed = 0;
    std::uint64_t measured = 0;
    std::uint64_t answered = 0;  // warm-up and drain included
    std::uint64_t errors = 0;
    std::uint64_t reconnects = 0;
    std::uint64_t bytes = 0;
    std::uint64_t replayed = 0;
    std::uint64_t unmarked = 0;
    std::uint64_t rounds = 0;
    std::uint64_t rounds_wrong = 0;  // joiners: not exactly one unmarked answer
    std::map<unsigned, std::uint64_t> statuses;
    std::vector<std::string> samples;

    void add(const Tally& other) {
        latency.add(other.latency);
        handshake.add(other.handshake);
        handshakes += other.handshakes;
        resumed += other.resumed;
        measured += other.measured;
        answered += other.answered;
        errors += other.errors;
        reconnects += other.reconnects;
        bytes += other.bytes;
        replayed += other.replayed;
        unmarked += other.unmarked;
        rounds += other.rounds;
        rounds_wrong += other.rounds_wrong;
        for (const auto& [status, count] : other.statuses) statuses[status] += count;
        for (const auto& sample : other.samples) {
            if (samples.size() < samples_max) samples.push_back(sample);
        }
    }
};

// next_id: the first ID that this run did not use, for a run that follows.
inline std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (static_cast<unsigned char>(c) < 0x20) {
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
            out += c;
        }
    }
    return out + '"';
}

inline void print_tally(const LoadOptions& options, const Tally& tally, std::uint64_t next_id, double seconds) {
    std::string statuses;
    for (const auto& [status, count] : tally.statuses) {
        statuses += fmt::format(R"({}"{}":{})", statuses.empty() ? "" : ",", status, count);
    }
    std::string samples;
    for (const auto& sample : tally.samples) samples += (samples.empty() ? "" : ",") + quoted(sample);
    const auto of = [](const Histogram& times, double share) {
        return static_cast<double>(times.quantile(share)) / 1000;
    };
    const auto micros = [&](double share) { return of(tally.latency, share); };
    fmt::print(R"({{"mode":{},"connections":{},"threads":{},"seed":{},"seconds":{:.3f},"requests_per_s":{:.1f},)"
               R"("p50_us":{:.1f},"p99_us":{:.1f},"p999_us":{:.1f},"count":{},"answered":{},"errors":{},"bytes":{},)",
               quoted(options.mode), options.connections, options.threads, options.seed, seconds,
               seconds > 0 ? static_cast<double>(tally.measured) / seconds : 0, micros(0.5), micros(0.99),
               micros(0.999), tally.measured, tally.answered, tally.errors, tally.bytes);
    if (tally.handshakes != 0) {
        fmt::print(R"("handshakes":{},"resumed":{},"tls_p50_us":{:.1f},"tls_p99_us":{:.1f},)", tally.handshakes,
                   tally.resumed, of(tally.handshake, 0.5), of(tally.handshake, 0.99));
    }
    fmt::print(R"("replayed":{},"unmarked":{},"rounds":{},"rounds_wrong":{},"reconnects":{},"next_id":{},)"
               R"("status":{{{}}},"samples":[{}]}})"
               "\n",
               tally.replayed, tally.unmarked, tally.rounds, tally.rounds_wrong, tally.reconnects, next_id, statuses,
               samples);
}

}  // namespace opid::bench
