// The load generator: options, threads, and the one line that tells what happened. load_loop.hpp and load_tunnels.hpp
// do the work.
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "flags.hpp"
#include "load_loop.hpp"
#include "load_plan.hpp"
#include "load_tally.hpp"
#include "load_tunnels.hpp"
#include "wire.hpp"

namespace opid::bench {
namespace {

int complain(const std::string& what) {
    fmt::print(stderr, "{}\n", what);
    return 1;
}

int measure(const LoadOptions& options) {
    TlsContext tls;
    if (!options.tls.empty()) {
        tls = client_context(options.tls);
        if (!tls) return complain(fmt::format("can't use {}: {}", options.tls, tls_error()));
    }
    Window window;
    std::vector<std::unique_ptr<Loop>> loops;
    for (unsigned i = 0; i < options.threads; ++i) {
        const unsigned share = options.connections / options.threads +
                               (i < options.connections % options.threads ? 1 : 0);
        loops.push_back(std::make_unique<Loop>(options, window, tls.get(), share, i));
        if (options.fresh == 0 && !loops.back()->connect_all()) {
            const auto& samples = loops.back()->tally().samples;
            return complain(fmt::format("can't connect to {}: {}", options.target,
                                        samples.empty() ? "no answer" : samples.front()));
        }
    }
    const auto start = Clock::now();
    const auto seconds = [](double value) {
        return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(value));
    };
    window.measure_from = options.count != 0 ? start : start + seconds(options.warmup);
    window.stop_at = window.measure_from + (options.count != 0 ? std::chrono::hours(24) : seconds(options.duration));
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < loops.size(); ++i) threads.emplace_back([&loops, i] { loops[i]->run(); });
    loops.front()->run();
    for (auto& thread : threads) thread.join();
    const auto end = options.count != 0 ? Clock::now() : window.stop_at;
    Tally total;
    for (const auto& loop : loops) total.add(loop->tally());
    print_tally(options, total, options.first + window.issued.load(),
                std::chrono::duration<double>(end - window.measure_from).count());
    return total.errors == 0 ? 0 : 3;
}

bool valid(const LoadOptions& options) {
    static const std::set<std::string> modes{"pass-get", "pass-post", "write",     "replay",      "mismatch",
                                             "joiners",  "lookup",    "tunnel-up", "tunnel-down", "tunnel-both"};
    if (modes.count(options.mode) == 0 || options.target.find(':') == std::string::npos) return false;
    if (options.threads == 0 || options.connections < options.threads) return false;
    if (options.connect != 0 && options.authority.find(':') == std::string::npos) return false;
    // A round is one thread's barrier over connections that stay.
    return !options.joiners() || (options.threads == 1 && options.fresh == 0);
}

int run(int count, char** words) {
    LoadOptions options;
    Flags flags(load_usage);
    flags.text("--target", options.target);
    flags.text("--mode", options.mode);
    flags.text("--path", options.path);
    flags.text("--absolute", options.absolute);
    flags.text("--authority", options.authority);
    flags.number("--connect", options.connect);
    flags.text("--tls", options.tls);
    flags.number("--fresh", options.fresh);
    flags.number("--resume", options.resume);
    flags.text("--header", options.header);
    flags.number("--connections", options.connections);
    flags.number("--threads", options.threads);
    flags.number("--duration", options.duration);
    flags.number("--warmup", options.warmup);
    flags.number("--count", options.count);
    flags.number("--body", options.body);
    flags.text("--prefix", options.prefix);
    flags.number("--seed", options.seed);
    flags.number("--first", options.first);
    flags.number("--ids", options.ids);
    flags.number("--shuffle", options.shuffle);
    flags.text("--expect", options.expect);
    flags.text("--expect-replayed", options.expect_replayed);
    flags.text("--expect-operation", options.expect_operation);
    flags.parse(count, words);
    if (options.prefix.empty()) options.prefix = fmt::format("s{}-", options.seed);
    if (!valid(options)) {
        fmt::print(stderr, "a wrong mode, target or number of threads\n{}", load_usage);
        return 2;
    }
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL and sendfile write without a flag against it
    return options.tunnels() ? move_bulk(options) : measure(options);
}

}  // namespace
}  // namespace opid::bench

int main(int count, char** words) { return opid::bench::run(count, words); }
