#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <catch2/catch.hpp>
#include <exception>

#include "adapters/store/memory/memory_store.hpp"
#include "app/deadline_store.hpp"
#include "app/run_now.hpp"
#include "conformance/sample_operation.hpp"

using namespace opid;

namespace {

// Nothing happens by itself: the test lets the clock run out and the store go on.
class HandTimers final : public Timers {
public:
    Instant now() const override { return from_unix_ms(5'000'000); }
    Task<> sleep_for(Millis) override { co_return; }  // tidy: allow(test sleep) a port that does not sleep
    std::shared_ptr<void> after(Executor, Millis, std::function<void()> action) override {
        auto kept = std::make_shared<std::function<void()>>(std::move(action));
        pending = kept;
        return kept;
    }
    void run_out() {
        if (const auto action = pending.lock()) (*action)();
    }
    std::weak_ptr<std::function<void()>> pending;
};

struct Quiet final : Observer {
    void moved(const Operation&, const HistoryEvent& event) noexcept override { last = event.what; }
    void answered(std::string_view, std::string_view) noexcept override {}
    void trouble(std::string_view, std::string_view) noexcept override { ++troubles; }
    std::string last;
    int troubles = 0;
};

class SlowStore final : public OperationStore {
public:
    void begin_commit(const Commit& commit, Executor executor, std::shared_ptr<CommitListener> listener) override {
        if (!slow) return inner.begin_commit(commit, executor, std::move(listener));
        slow = false;
        go_on = [this, kept = commit, executor, listener] {
            if (!fails) return inner.begin_commit(kept, executor, listener);
            boost::asio::post(executor, [listener] { listener->committed(Error(ErrorKind::unavailable, "full")); });
        };
    }
    Task<Result<Loaded>> load(OperationKey key) override {
        if (slow) {
            slow = false;
            auto initiation = [this](auto handler) {
                const auto kept = std::make_shared<decltype(handler)>(std::move(handler));
                go_on = [kept] { std::move (*kept)(); };
            };
            co_await boost::asio::async_initiate<decltype(use_task), void()>(std::move(initiation), use_task);
        }
        Result<Loaded> loaded = co_await inner.load(key);
        co_return loaded;
    }
    std::optional<Result<Loaded>> load_now(const OperationKey&) override {
        if (slow) return std::nullopt;
        return Result<Loaded>(Loaded{Absent{}});
    }
    Task<Result<std::string>> load_body(OperationKey key, BodyPart part) override { return inner.load_body(key, part); }
    Task<Result<std::vector<HistoryEvent>>> load_history(OperationKey key) override { return inner.load_history(key); }
    Task<Result<ListPage>> list(ListQuery query) override { return inner.list(std::move(query)); }
    Task<Result<std::string>> allocate_step(std::string tenant, std::string step, std::string id) override {
        return inner.allocate_step(std::move(tenant), std::move(step), std::move(id));
    }
    Task<Result<std::vector<Operation>>> due(Instant until, DuePlace after, std::size_t limit) override {
        return inner.due(until, std::move(after), limit);
    }
    Task<Result<std::vector<Operation>>> in_progress() override { return inner.in_progress(); }
    Task<Result<SweepResult>> sweep(Instant a, Instant b, Instant now) override { return inner.sweep(a, b, now); }
    Task<Status> remember(std::string fact) override { return inner.remember(std::move(fact)); }
    Task<Result<std::vector<std::string>>> remembered() override { return inner.remembered(); }
    StoreHealth health() const override { return inner.health(); }

    MemoryStore inner;
    bool slow = false;
    bool fails = false;
    std::function<void()> go_on;
};

struct World {
    Result<Unit> answer = Error(ErrorKind::internal, "none yet");
    bool answered = false;
    boost::asio::io_context context{1};
    SlowStore slow;
    HandTimers timers;
    Quiet observer;
    DeadlineStore store{slow, timers, observer, Millis{5000}};

    void begin(const Operation& operation) {
        Commit commit = test::commit_of(operation);
        boost::asio::co_spawn(context.get_executor(), store.commit(std::move(commit)),
                              [this](std::exception_ptr, Status status) {
                                  answer = std::move(status);
                                  answered = true;
                              });
        poll();
    }
    void poll() {
        context.restart();
        context.poll();
    }
    Operation stored(const OperationKey& key) {
        Result<Loaded> loaded = run_now(slow.inner.load(key));
        REQUIRE(loaded);
        REQUIRE(std::holds_alternative<Operation>(*loaded));
        return std::get<Operation>(*loaded);
    }
};

}  // namespace

TEST_CASE("a commit in time is passed through, error or not") {
    World world;
    world.begin(test::new_operation("a"));
    REQUIRE(world.answered);
    CHECK(world.answer);
    world.answered = false;
    world.begin(test::new_operation("a"));
    REQUIRE(world.answered);
    CHECK(world.answer.error().kind() == ErrorKind::conflict);
    CHECK(world.observer.troubles == 0);
}

TEST_CASE("a claim that is recorded too late is taken back") {
    World world;
    world.slow.slow = true;
    const Operation operation = test::new_operation("late");
    world.begin(operation);
    CHECK_FALSE(world.answered);
    world.timers.run_out();
    world.poll();
    REQUIRE(world.answered);
    CHECK(world.answer.error().kind() == ErrorKind::timeout);
    world.slow.go_on();
    world.poll();
    CHECK(world.stored(operation.key).status == OperationStatus::prepared);
    CHECK(world.stored(operation.key).version == 2);
    CHECK(world.observer.last == "not_sent");
}

TEST_CASE("a read that the disk keeps waiting is answered in time") {
    World world;
    const Operation operation = test::new_operation("read");
    world.begin(operation);
    std::optional<Result<Loaded>> answer;
    const auto load = [&] {
        answer.reset();
        boost::asio::co_spawn(world.context.get_executor(), world.store.load(operation.key),
                              [&answer](std::exception_ptr, Result<Loaded> loaded) { answer = std::move(loaded); });
        world.poll();
    };
    load();
    REQUIRE(answer);
    CHECK(std::holds_alternative<Absent>(**answer));  // what load_now() said
    world.slow.slow = true;
    load();
    CHECK_FALSE(answer);
    world.timers.run_out();
    world.poll();
    REQUIRE(answer);
    CHECK(answer->error().kind() == ErrorKind::timeout);
    world.slow.go_on();
    world.poll();
    world.slow.slow = true;
    load();
    world.slow.go_on();
    world.poll();
    REQUIRE(answer);
    REQUIRE(*answer);
    CHECK(std::holds_alternative<Operation>(**answer));
}

TEST_CASE("an outcome that is recorded too late stays recorded") {
    World world;
    const Operation claimed = test::new_operation("late");
    world.begin(claimed);
    REQUIRE(world.answer);
    world.answered = false;
    world.slow.slow = true;
    world.begin(test::with_response(test::moved(claimed, OperationStatus::succeeded), "{}"));
    world.timers.run_out();
    world.poll();
    REQUIRE(world.answered);
    CHECK(world.answer.error().kind() == ErrorKind::timeout);
    world.slow.go_on();
    world.poll();
    CHECK(world.stored(claimed.key).status == OperationStatus::succeeded);
}

TEST_CASE("a late failure changes nothing") {
    World world;
    world.slow.slow = true;
    world.slow.fails = true;
    const Operation operation = test::new_operation("late");
    world.begin(operation);
    world.timers.run_out();
    world.poll();
    REQUIRE(world.answered);
    world.slow.go_on();
    world.poll();
    const Result<Loaded> loaded = run_now(world.slow.inner.load(operation.key));
    CHECK(std::holds_alternative<Absent>(*loaded));
    CHECK(world.observer.troubles == 1);
}

TEST_CASE("nobody reads a record whose commit is late") {
    World world;
    world.slow.slow = true;
    const Operation operation = test::new_operation("late");
    world.begin(operation);
    world.timers.run_out();
    world.poll();
    REQUIRE(world.answered);
    const Result<Loaded> during = run_now(world.store.load(operation.key));
    REQUIRE_FALSE(during);
    CHECK(during.error().kind() == ErrorKind::timeout);
    CHECK(run_now(world.store.load(test::new_operation("other").key)));
    world.slow.go_on();
    world.poll();
    CHECK(run_now(world.store.load(operation.key)));
}
