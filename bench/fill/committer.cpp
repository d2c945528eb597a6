// How much of the disk's own rate the committer makes: claims and outcomes at several depths, beside fdatasync.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "../flags.hpp"
#include "../histogram.hpp"
#include "adapters/store/rocksdb/rocks_store.hpp"

namespace {

using namespace opid;
using Clock = std::chrono::steady_clock;

constexpr std::string_view usage = "opid_committer --directory DIR [--seconds S] [--linger-us N]\n";

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double cpu_seconds() {
    rusage use{};
    ::getrusage(RUSAGE_SELF, &use);
    const auto of = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return of(use.ru_utime) + of(use.ru_stime);
}

double raw_rate(const std::string& directory, double seconds, opid::bench::Histogram& times) {
    const std::string path = directory + "/raw";
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return 0;
    const std::string bytes(1024, 'x');
    const Clock::time_point start = Clock::now();
    std::uint64_t count = 0;
    while (seconds_since(start) < seconds) {
        const Clock::time_point begun = Clock::now();
        if (::write(file, bytes.data(), bytes.size()) < 0 || ::fdatasync(file) != 0) break;
        times.record(static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begun).count()));
        ++count;
    }
    const double rate = static_cast<double>(count) / seconds_since(start);
    ::close(file);
    ::unlink(path.c_str());
    return rate;
}

struct Run {
    RocksStore& store;
    Clock::time_point end;
    opid::bench::Histogram times;
    std::uint64_t operations = 0;
    std::uint64_t failed = 0;
};

Operation claim(std::string id, Instant now) {
    Operation out;
    out.tenant = "default";
    out.id = std::move(id);
    out.key = operation_key(out.tenant, out.scope, out.id);
    out.version = 1;
    out.provider = "stripe";
    out.rule = "refund";
    out.intent.method = "POST";
    out.intent.scheme_authority = "https://api.stripe.com";
    out.intent.target = "/v1/refunds";
    out.intent.body.kept = true;
    out.intent.body.bytes = std::string(200, 'b');
    out.intent.body.size = 200;
    out.status = OperationStatus::in_progress;
    out.created = out.updated = now;
    return out;
}

void end(Operation& operation) {
    operation.version = 2;
    operation.status = OperationStatus::succeeded;
    RecordedResponse response;
    response.status = 200;
    response.headers = {{"Content-Type", "application/json"}};
    response.body.kept = true;
    response.body.bytes = std::string(400, 'r');
    response.body.size = 400;
    operation.response = std::move(response);
}

Task<void> work(Run& run, std::string prefix, Instant now) {
    for (std::uint64_t n = 0; Clock::now() < run.end; ++n) {
        Commit commit;
        commit.operation = claim(prefix + std::to_string(n), now + Millis(n));
        Operation next = commit.operation;
        Clock::time_point start = Clock::now();
        const Status begun = co_await run.store.commit(std::move(commit));
        run.times.record(static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count()));
        end(next);
        Commit outcome;
        outcome.operation = std::move(next);
        outcome.expected_version = 1;
        const Status ended = co_await run.store.commit(std::move(outcome));
        if (begun && ended) ++run.operations;
        else ++run.failed;
    }
}

void measure(RocksStore& store, int depth, double seconds, double raw) {
    const StoreHealth before = store.health();
    const double cpu = cpu_seconds();
    const Clock::time_point start = Clock::now();
    Run run{store, start + std::chrono::microseconds(static_cast<std::int64_t>(seconds * 1e6)), {}, 0, 0};
    boost::asio::io_context context(1);
    const Instant now = std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now());
    for (int task = 0; task < depth; ++task) {
        const std::string prefix = fmt::format("{}-{}-{}-", to_unix_ms(now), depth, task);
        boost::asio::co_spawn(context, work(run, prefix, now), [](std::exception_ptr failed) {
            if (failed) std::exit(1);
        });
    }
    context.run();
    const double spent = seconds_since(start);
    const StoreHealth after = store.health();
    const auto commits = static_cast<double>(after.commits - before.commits);
    const std::string line = fmt::format(
        "{{\"scenario\":\"committer\",\"depth\":{},\"commits_per_s\":{:.0f},\"of_raw\":{:.2f},\"cpu_us\":{:.1f},"
        "\"commits_per_sync\":{:.1f},\"p50_us\":{:.0f},\"p99_us\":{:.0f},\"failed\":{}}}\n",
        depth, commits / spent, commits / spent / raw, (cpu_seconds() - cpu) * 1e6 / commits,
        commits / static_cast<double>(after.syncs - before.syncs), static_cast<double>(run.times.quantile(0.5)) / 1e3,
        static_cast<double>(run.times.quantile(0.99)) / 1e3, run.failed);
    std::fputs(line.c_str(), stdout);
    std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
    std::string directory;
    double seconds = 2;
    std::int64_t linger = 0;
    opid::bench::Flags flags(usage);
    flags.text("--directory", directory);
    flags.number("--seconds", seconds);
    flags.number("--linger-us", linger);
    flags.parse(count, words);
    RocksOptions options;
    options.directory = directory;
    options.linger = std::chrono::microseconds(linger);
    options.now = [] { return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now()); };
    auto opened = RocksStore::open(std::move(options));
    if (!opened) {
        std::fprintf(stderr, "opid_committer: %s\n", opened.error().what().c_str());
        return 1;
    }
    opid::bench::Histogram sync_times;
    const double raw = raw_rate(directory, seconds, sync_times);
    const std::string line = fmt::format("{{\"scenario\":\"fdatasync\",\"per_s\":{:.0f},\"p50_us\":{:.0f}}}\n", raw,
                                         static_cast<double>(sync_times.quantile(0.5)) / 1e3);
    std::fputs(line.c_str(), stdout);
    for (const int depth : {1, 8, 64, 256}) measure(**opened, depth, seconds, raw);
    return 0;
}
