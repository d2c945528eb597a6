#pragma once
// The engine under virtual time: one io_context, clocks that move by hand, everything random from one seed, a
// provider that keeps a ledger of effects, and a store that survives power cuts.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "adapters/store/memory/memory_store.hpp"
#include "engine/write_coordinator.hpp"

namespace opid::test {

// Thrown where the power goes out: unwinds whatever ran, none of whose memory is looked at again.
struct PowerCut {};

class SimTimers final : public Timers {
public:
    explicit SimTimers(boost::asio::io_context& io) : io_(io) {}
    Instant now() const override { return now_; }
    void start_at(Instant at) { now_ = at; }
    Task<> sleep_for(Millis time) override;
    std::shared_ptr<void> after(Executor executor, Millis time, std::function<void()> action) override;

    // Runs what is ready, then moves to the next timer; until nothing is left. False: a power cut ended it.
    bool run();

private:
    struct Entry {
        std::function<void()> fire;
    };
    boost::asio::io_context& io_;
    Instant now_{Millis{1'700'000'000'000}};
    std::multimap<Instant, std::shared_ptr<Entry>> timers_;
};

class SimEntropy final : public Entropy {
public:
    explicit SimEntropy(std::uint64_t seed) : random_(seed) {}
    std::string bytes(std::size_t count) override {
        std::string text;
        while (text.size() < count) text.push_back(static_cast<char>(random_()));
        return text;
    }

private:
    std::mt19937_64 random_;
};

class QuietObserver final : public Observer {
public:
    void moved(const Operation& operation, const HistoryEvent&) noexcept override;
    void answered(std::string_view, std::string_view) noexcept override {}
    void trouble(std::string_view, std::string_view) noexcept override {}
    std::vector<std::string> broken;  // final statuses that moved, versions that went back

private:
    std::map<std::string, std::pair<std::uint64_t, OperationStatus>> seen_;
};

// How the wire and the provider treat one attempt.
enum class Fate {
    works,         // 201, effect
    refused,       // no connection
    lost_before,   // written, provider never saw it
    lost_after,    // written, effect, no answer
    error_before,  // 500 without effect
    error_after,   // 500 with effect
    limited,       // 429
    invalid,       // 400
    cut,           // effect, half an answer
};
inline constexpr int fates = 9;

// What outlives power cuts: the provider's side of the world.
struct ProviderLedger {
    bool keyed = false;                                 // honours Idempotency-Key
    std::map<std::string, int> effects;                 // by the body of the write
    std::map<std::string, int> sends;                   // whole requests that arrived, by body
    std::map<std::string, std::set<std::string>> keys;  // keys seen, by body
    std::map<std::string, std::string> key_memory;      // key to body
};

class SimProvider final : public Upstream {
public:
    SimProvider(ProviderLedger& ledger, Timers& timers, std::function<Fate()> fate,
                std::function<void(std::string_view, bool)> port, std::function<Millis()> latency)
        : ledger_(ledger),
          timers_(timers),
          fate_(std::move(fate)),
          port_(std::move(port)),
          latency_(std::move(latency)) {}
    Task<Exchange> send(const OutboundRequest& request, ResponseSink* sink) override;
    Task<Exchange> look_up(const LookUpRequest& request) override;

    std::function<void(const OutboundRequest&)> before_bytes;  // checks that the intent is durable
    std::function<void(InboundResponse&)> shape;               // what an answer looks like, beyond its status

private:
    Exchange answer(const std::string& body, const std::string& key, Fate fate);
    ProviderLedger& ledger_;
    Timers& timers_;
    std::function<Fate()> fate_;
    std::function<void(std::string_view, bool)> port_;  // (call, before); may throw PowerCut
    std::function<Millis()> latency_;
};

ProfilePtr sim_profile(bool keyed);
GuardedWrite sim_write(const ProfilePtr& profile, const std::string& id, const std::string& body);

std::string field_of(const GuardedAnswer& answer, std::string_view name);  // "" when absent

// One life of the process, from start to power cut or rest.
class SimProcess {
public:
    struct Parts {
        ProviderLedger& ledger;
        MemoryStore::Snapshot disk;  // null: an empty one
        Instant start{};
        std::uint64_t epoch = 1;
        std::function<Fate()> fate;
        std::function<Millis()> latency;
        std::function<Status(std::string_view call, unsigned n, bool before)> store_fault;  // may throw PowerCut
        std::function<void(std::string_view call, bool before)> provider_port;              // may throw PowerCut
    };
    explicit SimProcess(Parts parts);

    boost::asio::io_context io;
    SimTimers timers;
    SimEntropy entropy;
    QuietObserver observer;
    MemoryStore store;
    SimProvider provider;
    ProfileBoard board;
    WriteCoordinator engine;
    // Runs a task to rest; false: the power was cut.
    bool run(Task<> task);
    void spawn(Task<> task);
    bool run();

private:
    bool cut_ = false;
};

}  // namespace opid::test
