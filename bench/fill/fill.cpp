// Makes a store of many finished records and measures what must not grow with them: start and look-ups.
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "../flags.hpp"
#include "../histogram.hpp"
#include "adapters/store/rocksdb/rocks_probe.hpp"

namespace {

using namespace opid;
using Clock = std::chrono::steady_clock;

constexpr std::string_view usage =
    "opid_fill --directory DIR [--records N] [--open N] [--body BYTES] [--look-ups N] [--check 1]\n"
    "  Fills DIR with N finished records (op-0 ...) of tenant \"default\" and some open ones; then closes it,\n"
    "  opens it again and measures. --check 1: no filling, only measures a store that was filled before.\n";

struct Settings {
    std::string directory;
    std::uint64_t records = 10'000;
    std::uint64_t open = 1000;
    std::uint64_t body = 400;
    std::uint64_t look_ups = 20'000;
    int check = 0;
};

Instant wall() { return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now()); }

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Payload payload(std::string bytes) {
    Payload out;
    out.size = bytes.size();
    out.digest = sha256(bytes);
    out.kept = true;
    out.bytes = std::move(bytes);
    return out;
}

Operation record(std::uint64_t n, OperationStatus status, const Settings& settings, Instant created) {
    Operation out;
    out.tenant = "default";
    out.id = "op-" + std::to_string(n);
    out.key = operation_key(out.tenant, out.scope, out.id);
    out.version = 1;
    out.provider = "stripe";
    out.rule = "refund";
    out.intent.method = "POST";
    out.intent.scheme_authority = "https://api.stripe.com";
    out.intent.target = "/v1/refunds";
    out.intent.body = payload("charge=ch_" + std::to_string(n));
    out.status = status;
    out.created = out.updated = created;
    HistoryEvent event;
    event.sequence = 1;
    event.at = created;
    event.what = "registered";
    event.actor = "caller";
    event.from = event.to = status;
    out.history.push_back(event);
    out.history_length = 1;
    if (is_final(status)) {
        RecordedResponse response;
        response.status = 200;
        response.headers = {{"Content-Type", "application/json"}};
        std::string body = "{\"id\":\"re_" + std::to_string(n) + "\"}";
        if (body.size() < settings.body) body.resize(settings.body, ' ');
        response.body = payload(std::move(body));
        out.response = std::move(response);
    }
    return out;
}

[[noreturn]] void stop(const std::string& why) {
    std::fprintf(stderr, "opid_fill: %s\n", why.c_str());
    std::exit(1);
}

std::unique_ptr<RocksStore> open_store(const Settings& settings) {
    RocksOptions options;
    options.directory = settings.directory;
    options.now = wall;
    auto opened = RocksStore::open(std::move(options));
    if (!opened) stop(opened.error().what());
    return std::move(*opened);
}

void fill(const Settings& settings) {
    const std::unique_ptr<RocksStore> store = open_store(settings);
    const Instant start = wall() - std::chrono::hours(24);
    std::vector<Operation> batch;
    for (std::uint64_t n = 0; n < settings.records; ++n) {
        batch.push_back(record(n, OperationStatus::succeeded, settings, start + Millis(n / 100)));
        if (batch.size() < 1000 && n + 1 != settings.records) continue;
        const Status written = RocksStoreProbe::fill(*store, batch);
        if (!written) stop(written.error().what());
        batch.clear();
    }
    boost::asio::io_context context(1);
    for (std::uint64_t n = 0; n < settings.open; ++n) {
        Commit commit;
        commit.operation = record(settings.records + n, OperationStatus::unknown, settings, start);
        boost::asio::co_spawn(context, store->commit(std::move(commit)), [](std::exception_ptr, Status) {});
    }
    context.run();
    const Status flushed = RocksStoreProbe::flush(*store);
    if (!flushed) stop(flushed.error().what());
}

Task<void> look_up(RocksStore& store, const Settings& settings, bool present, opid::bench::Histogram& times,
                   std::uint64_t& wrong) {
    std::uint64_t random = 88172645463325252ULL;
    for (std::uint64_t n = 0; n < settings.look_ups; ++n) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        const std::string id = (present ? "op-" : "no-") + std::to_string(random % settings.records);
        const OperationKey key = operation_key("default", "", id);
        const Clock::time_point start = Clock::now();
        const Result<Loaded> loaded = co_await store.load(key);
        times.record(static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count()));
        if (loaded && std::holds_alternative<Operation>(*loaded) == present) continue;
        if (++wrong > 5) continue;
        const std::string why = loaded ? std::string(present ? "not there" : "there") : loaded.error().what();
        std::fprintf(stderr, "opid_fill: %s: %s\n", id.c_str(), why.c_str());
    }
}

Task<void> first_page(RocksStore& store, std::size_t& count) {
    ListQuery query;
    query.status = OperationStatus::succeeded;
    const Result<ListPage> page = co_await store.list(query);
    count = page ? page->operations.size() : 0;
}

void run(boost::asio::io_context& context, Task<void> task) {
    boost::asio::co_spawn(context, std::move(task), [](std::exception_ptr failed) {
        if (failed) stop("a task failed");
    });
    context.run();
    context.restart();
}

}  // namespace

int main(int count, char** words) {
    Settings settings;
    opid::bench::Flags flags(usage);
    flags.text("--directory", settings.directory);
    flags.number("--records", settings.records);
    flags.number("--open", settings.open);
    flags.number("--body", settings.body);
    flags.number("--look-ups", settings.look_ups);
    flags.number("--check", settings.check);
    flags.parse(count, words);
    if (settings.directory.empty() || settings.records == 0) stop("--directory and --records are needed");

    Clock::time_point start = Clock::now();
    if (settings.check == 0) fill(settings);
    const double filled = seconds_since(start);

    start = Clock::now();
    const std::unique_ptr<RocksStore> store = open_store(settings);
    const double opened = seconds_since(start);
    boost::asio::io_context context(1);
    opid::bench::Histogram present;
    opid::bench::Histogram absent;
    std::uint64_t wrong = 0;
    run(context, look_up(*store, settings, true, present, wrong));
    run(context, look_up(*store, settings, false, absent, wrong));
    std::size_t listed = 0;
    start = Clock::now();
    run(context, first_page(*store, listed));
    const double paged = seconds_since(start);
    const std::string line = fmt::format(
        "{{\"scenario\":\"store_flatness\",\"records\":{},\"open\":{},\"fill_s\":{:.2f},\"start_ms\":{:.1f},"
        "\"present_p50_us\":{:.1f},\"present_p99_us\":{:.1f},\"absent_p50_us\":{:.1f},\"absent_p99_us\":{:.1f},"
        "\"page_ms\":{:.2f},\"page\":{},\"wrong\":{}}}\n",
        settings.records, store->health().open_operations, filled, opened * 1e3,
        static_cast<double>(present.quantile(0.5)) / 1e3, static_cast<double>(present.quantile(0.99)) / 1e3,
        static_cast<double>(absent.quantile(0.5)) / 1e3, static_cast<double>(absent.quantile(0.99)) / 1e3, paged * 1e3,
        listed, wrong);
    std::fputs(line.c_str(), stdout);
    return wrong == 0 ? 0 : 1;
}
