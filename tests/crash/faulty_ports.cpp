#include "faulty_ports.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <exception>
#include <fstream>
#include <iterator>
#include <utility>

#include "crash_points.hpp"

namespace opid::test {
namespace {

constexpr Millis look_again{20};

class FaultyStore final : public OperationStore {
public:
    FaultyStore(OperationStore& inner, Timers& timers, std::string fault_file)
        : inner_(inner),
          timers_(timers),
          fault_file_(std::move(fault_file)) {}

    void begin_commit(const Commit& commit, Executor executor, std::shared_ptr<CommitListener> listener) override {
        boost::asio::co_spawn(executor, faulty_commit(commit, std::move(listener)), [](std::exception_ptr error) {
            if (error) std::rethrow_exception(error);
        });
    }
    Task<Result<std::string>> allocate_step(std::string tenant, std::string step, std::string proposed_id) override {
        while (fault() == "hangs") co_await timers_.sleep_for(look_again);
        if (fault() == "down") co_return Error(ErrorKind::unavailable, "the fault file says down");
        Result<std::string> id = co_await inner_.allocate_step(std::move(tenant), std::move(step),
                                                               std::move(proposed_id));
        co_return id;
    }

    Task<Result<Loaded>> load(OperationKey key) override { return inner_.load(key); }
    Task<Result<std::string>> load_body(OperationKey key, BodyPart part) override {
        return inner_.load_body(key, part);
    }
    Task<Result<std::vector<HistoryEvent>>> load_history(OperationKey key) override { return inner_.load_history(key); }
    Task<Result<ListPage>> list(ListQuery query) override { return inner_.list(std::move(query)); }
    Task<Result<std::vector<Operation>>> due(Instant until, DuePlace after, std::size_t limit) override {
        return inner_.due(until, std::move(after), limit);
    }
    Task<Result<std::vector<Operation>>> in_progress() override { return inner_.in_progress(); }
    Task<Result<SweepResult>> sweep(Instant records_kept_until, Instant tombstones_kept_until, Instant now) override {
        return inner_.sweep(records_kept_until, tombstones_kept_until, now);
    }
    Task<Status> remember(std::string fact) override { return inner_.remember(std::move(fact)); }
    Task<Result<std::vector<std::string>>> remembered() override { return inner_.remembered(); }
    StoreHealth health() const override {
        StoreHealth health = inner_.health();
        if (fault() == "down") {
            health.writable = false;
            health.reason = "the fault file says down";
        }
        return health;
    }

private:
    Task<> faulty_commit(Commit commit, std::shared_ptr<CommitListener> listener) {
        while (fault() == "hangs") co_await timers_.sleep_for(look_again);
        if (fault() == "down") {
            const Executor executor = co_await boost::asio::this_coro::executor;
            boost::asio::post(executor, [listener] {
                listener->committed(Error(ErrorKind::unavailable, "the fault file says down"));
            });
            co_return;
        }
        const bool claim = commit.operation.status == OperationStatus::in_progress;
        pass(claim ? "before-claim-commit" : "before-outcome-commit");
        Status status = co_await inner_.commit(std::move(commit));
        pass(claim ? "after-claim-commit" : "after-outcome-commit");
        listener->committed(std::move(status));
    }

    std::string fault() const {
        if (fault_file_.empty()) return {};
        std::ifstream file(fault_file_);
        std::string word;
        file >> word;
        return word;
    }

    OperationStore& inner_;
    Timers& timers_;
    std::string fault_file_;
};

class CrashingUpstream final : public Upstream {
public:
    explicit CrashingUpstream(Upstream& inner) : inner_(inner) {}

    Task<Exchange> send(const OutboundRequest& request, ResponseSink* sink) override {
        pass("before-send");
        Exchange exchange = co_await inner_.send(request, sink);
        pass("after-send");
        co_return exchange;
    }
    Task<Exchange> look_up(const LookUpRequest& request) override { return inner_.look_up(request); }

private:
    Upstream& inner_;
};

Task<GuardedAnswer> answer_through(GuardedHandler& inner, GuardedWrite write, ResponseSink* sink) {
    auto answering = inner(std::move(write), sink);
    GuardedAnswer answer = co_await std::move(answering);
    pass("before-answer");
    co_return answer;
}

}  // namespace

std::unique_ptr<OperationStore> faulty_store(OperationStore& inner, Timers& timers, std::string fault_file) {
    return std::make_unique<FaultyStore>(inner, timers, std::move(fault_file));
}

std::unique_ptr<Upstream> crashing_upstream(Upstream& inner) { return std::make_unique<CrashingUpstream>(inner); }

GuardedHandler crashing_handler(GuardedHandler inner) {
    const auto kept = std::make_shared<GuardedHandler>(std::move(inner));
    return [kept](GuardedWrite write, ResponseSink* sink) { return answer_through(*kept, std::move(write), sink); };
}

}  // namespace opid::test
