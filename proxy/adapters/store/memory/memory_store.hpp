#pragma once
// The store's contract without a disk: the same answers as RocksStore, at once. For tests, simulation and
// `--store memory`. Records pass through the codec, so that what comes back is what a disk would give back.
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ports/operation_store.hpp"

namespace opid {

struct MemoryOptions {
    std::size_t inline_body_bytes_max = 4096;

    // Called before and after each call of a port member. call: "load", "commit", "load_body",
    // "load_history", "list", "allocate_step", "due", "in_progress", "sweep", "remember", "remembered"; n counts all
    // calls from 1.
    // An error before: nothing happens and the caller gets it. An error after: the effect stays and the
    // caller gets the error. An `indeterminate` one from a commit latches the store, as a failed sync does.
    // May be called from any thread that uses the store, one call at a time.
    std::function<Status(std::string_view call, unsigned n, bool before)> fault;
};

class MemoryStore final : public OperationStore {
public:
    struct Contents;  // what a disk would hold
    using Snapshot = std::shared_ptr<const Contents>;

    MemoryStore();
    explicit MemoryStore(MemoryOptions options);
    MemoryStore(MemoryOptions options, const Snapshot& disk);  // a restart on those contents
    ~MemoryStore() override;
    MemoryStore(const MemoryStore&) = delete;
    MemoryStore& operator=(const MemoryStore&) = delete;

    Task<Result<Loaded>> load(OperationKey key) override;
    void begin_commit(const Commit& commit, Executor executor, std::shared_ptr<CommitListener> listener) override;
    Task<Result<std::string>> load_body(OperationKey key, BodyPart part) override;
    Task<Result<std::vector<HistoryEvent>>> load_history(OperationKey key) override;
    Task<Result<ListPage>> list(ListQuery query) override;
    Task<Result<std::string>> allocate_step(std::string tenant, std::string step, std::string proposed_id) override;
    Task<Result<std::vector<Operation>>> due(Instant until, DuePlace after, std::size_t limit) override;
    Task<Result<std::vector<Operation>>> in_progress() override;
    Task<Result<SweepResult>> sweep(Instant records_kept_until, Instant tombstones_kept_until, Instant now) override;
    Task<Status> remember(std::string fact) override;
    Task<Result<std::vector<std::string>>> remembered() override;
    StoreHealth health() const override;

    Snapshot snapshot() const;        // a copy of everything committed so far
    void refuse_claims(bool refuse);  // as a disk below its watermark does

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace opid
