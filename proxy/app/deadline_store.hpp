#pragma once
// A store that answers in time, commits and the reads that a caller waits for. A commit that takes longer is answered
// as timed out, so nothing is sent on its word; it still runs to its end, and what it did counts: an outcome that is
// recorded late is recorded, and a claim that is recorded late is taken back, since its owner was told that there is
// none. Until that is settled, readers of this record wait, so that nobody acts on the middle of it.
#include <atomic>
#include <memory>
#include <mutex>
#include <set>

#include "engine/ports/observer.hpp"
#include "engine/ports/operation_store.hpp"
#include "engine/ports/timers.hpp"

namespace opid {

class DeadlineStore final : public OperationStore {
public:
    // Everything outlives this. Callers run on io_contexts of one thread each.
    DeadlineStore(OperationStore& inner, Timers& timers, Observer& observer, Millis limit)
        : inner_(inner),
          timers_(timers),
          observer_(observer),
          limit_(limit) {}

    void begin_commit(const Commit& commit, Executor executor, std::shared_ptr<CommitListener> listener) override;
    Task<Result<std::string>> allocate_step(std::string tenant, std::string step, std::string proposed_id) override;

    Task<Result<Loaded>> load(OperationKey key) override;
    Task<Result<std::string>> load_body(OperationKey key, BodyPart part) override;
    Task<Result<std::vector<HistoryEvent>>> load_history(OperationKey key) override { return inner_.load_history(key); }
    Task<Result<ListPage>> list(ListQuery query) override { return inner_.list(std::move(query)); }
    Task<Result<std::vector<Operation>>> due(Instant until, DuePlace after, std::size_t limit) override {
        return inner_.due(until, std::move(after), limit);
    }
    Task<Result<std::vector<Operation>>> in_progress() override { return inner_.in_progress(); }
    Task<Result<SweepResult>> sweep(Instant records_kept_until, Instant tombstones_kept_until, Instant now) override {
        return inner_.sweep(records_kept_until, tombstones_kept_until, now);
    }
    Task<Status> remember(std::string fact) override;
    Task<Result<std::vector<std::string>>> remembered() override { return inner_.remembered(); }
    StoreHealth health() const override { return inner_.health(); }

private:
    class Race;
    struct Subject {
        OperationKey key;
        std::uint64_t claim_version = 0;  // 0: no claim
    };
    template <class T>
    Task<T> within_limit(Task<T> work);
    void ended_late(Executor executor, const Subject& subject, bool succeeded);
    Task<> take_back(Subject subject);
    Task<bool> settles(OperationKey key);
    void mark_late(const OperationKey& key);
    void settled(const OperationKey& key);
    bool is_late(const OperationKey& key) const;

    OperationStore& inner_;
    Timers& timers_;
    Observer& observer_;
    Millis limit_;
    std::atomic<std::size_t> late_count_{0};
    mutable std::mutex mutex_;
    std::multiset<OperationKey> late_;
};

}  // namespace opid
