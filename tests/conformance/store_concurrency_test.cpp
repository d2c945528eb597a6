// Many callers at once, from many io_contexts, and the bounds that hold them.
#include <atomic>
#include <thread>
#include <vector>

#include "store_fixture.hpp"

using namespace opid;
using namespace opid::test;

#define BOTH_STORES MemoryFixture, RocksFixture

namespace {

// Starts body(i) on its own io_context and thread, n times, and waits for all.
template <class Body>
void on_threads(int n, Body body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < n; ++i) threads.emplace_back([i, &body] { body(i); });
    for (std::thread& thread : threads) thread.join();
}

Task<void> commit_many(OperationStore& store, std::string prefix, int count, std::atomic<int>& good,
                       std::thread::id home, std::atomic<int>& strays) {
    for (int n = 0; n < count; ++n) {
        const Operation claimed = new_operation(prefix + std::to_string(n));
        Commit claim = commit_of(claimed);
        const Status begun = co_await store.commit(std::move(claim));
        if (std::this_thread::get_id() != home) ++strays;
        Commit outcome = commit_of(with_response(moved(claimed, OperationStatus::succeeded), "{}"));
        const Status ended = co_await store.commit(std::move(outcome));
        const Result<Loaded> loaded = co_await store.load(claimed.key);
        if (std::this_thread::get_id() != home) ++strays;
        const bool there = loaded && std::holds_alternative<Operation>(*loaded) &&
                           std::get<Operation>(*loaded).status == OperationStatus::succeeded;
        if (begun && ended && there) ++good;
    }
}

}  // namespace

TEMPLATE_TEST_CASE("two racers, one winner", "[store][threads]", BOTH_STORES) {
    TestType fixture;
    for (int round = 0; round < 50; ++round) {
        const Operation claimed = new_operation("race-" + std::to_string(round));
        std::atomic<int> won{0};
        std::atomic<int> lost{0};
        on_threads(4, [&](int) {
            const std::string result = word(put(fixture.store(), claimed));
            won += result == "ok";
            lost += result == "conflict";
        });
        CHECK(won == 1);
        CHECK(lost == 3);
        won = lost = 0;
        on_threads(2, [&](int i) {
            const Operation next = moved(claimed, i == 0 ? OperationStatus::unknown : OperationStatus::succeeded);
            const std::string result = word(put(fixture.store(), next));
            won += result == "ok";
            lost += result == "conflict";
        });
        CHECK(won == 1);
        CHECK(lost == 1);
    }
}

TEMPLATE_TEST_CASE("racers for a step get one ID", "[store][threads]", BOTH_STORES) {
    TestType fixture;
    for (int round = 0; round < 20; ++round) {
        std::string ids[4];
        on_threads(4, [&](int i) {
            ids[i] = *run(fixture.store().allocate_step("t", "step-" + std::to_string(round), std::to_string(i)));
        });
        CHECK(ids[0] == ids[1]);
        CHECK(ids[0] == ids[2]);
        CHECK(ids[0] == ids[3]);
    }
}

TEMPLATE_TEST_CASE("many io_contexts commit at once and each resumes at home", "[store][threads]", BOTH_STORES) {
    TestType fixture;
    constexpr int contexts = 4;
    constexpr int tasks = 16;
    constexpr int rounds = 10;
    std::atomic<int> good{0};
    std::atomic<int> strays{0};
    on_threads(contexts, [&](int i) {
        LeasedContext lease;
        boost::asio::io_context& context = *lease;
        for (int task = 0; task < tasks; ++task) {
            const std::string prefix = std::to_string(i) + "-" + std::to_string(task) + "-";
            Task<void> work =
                commit_many(fixture.store(), prefix, rounds, good, std::this_thread::get_id(), strays);
            boost::asio::co_spawn(context, std::move(work), [](std::exception_ptr failed) {
                if (failed) std::abort();
            });
        }
        context.run();
    });
    CHECK(good == contexts * tasks * rounds);
    CHECK(strays == 0);
    const StoreHealth health = fixture.store().health();
    CHECK(health.commits == 2 * contexts * tasks * rounds);
    CHECK(health.syncs <= health.commits);
    CHECK(health.open_operations == 0);
    fixture.restart();
    CHECK(stored(fixture.store(), new_operation("3-15-9")).status == OperationStatus::succeeded);
}
