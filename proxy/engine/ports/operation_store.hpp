#pragma once
// Where operations live. One conformance suite (tests/conformance) holds for every implementation.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>

#include "base/result.hpp"
#include "core/operation/operation.hpp"
#include "engine/task.hpp"

namespace opid {

enum class BodyPart : std::uint8_t { request = 1, response = 2 };  // stored in keys: never renumber

// One atomic, synced write: the record as it is to be, the events that it spilled, and large bodies.
struct Commit {
    Operation operation;                 // its version is expected_version + 1
    std::uint64_t expected_version = 0;  // 0: the record must not exist (nor a tombstone for its key)
    std::uint64_t expected_epoch = 0;    // where not 0: the stored owner's epoch must be this one
    std::vector<HistoryEvent> spilled;
};

// Hears how a commit ended.
class CommitListener {
public:
    virtual ~CommitListener() = default;
    virtual void committed(Status status) = 0;
};

struct Absent {};
using Loaded = std::variant<Absent, Tombstone, Operation>;

// What listings show; everything comes from the record.
struct ListQuery {
    std::optional<OperationStatus> status;
    std::string provider;  // empty: any
    std::string tenant;    // empty: any
    std::string id;        // empty: any; otherwise exactly this ID
    std::optional<Instant> since;
    std::string cursor;  // from the previous page; empty: newest first from the start
    std::size_t limit = 100;
};
struct ListPage {
    std::vector<Operation> operations;  // external bodies not loaded
    std::string next_cursor;            // empty: that was the last page
};

// Place in the order of due dates.
struct DuePlace {
    Instant at{};
    OperationKey key;
    friend auto operator<=>(const DuePlace&, const DuePlace&) = default;
};

struct StoreHealth {
    bool writable = true;
    bool latched = false;  // a sync failed: only a restart helps
    std::string reason;    // plain words where not writable
    std::uint64_t commits = 0;
    std::uint64_t syncs = 0;
    std::uint64_t open_operations = 0;
    std::uint64_t free_bytes = 0;
};

struct SweepResult {
    std::uint64_t retired = 0;    // records turned into tombstones
    std::uint64_t forgotten = 0;  // tombstones dropped
};

// Every member may be called from any I/O thread; a Task resumes on the executor that awaits it.
class OperationStore {
public:
    virtual ~OperationStore() = default;

    // The record, with bodies that are kept inside it. Cost does not grow with the number of records.
    virtual Task<Result<Loaded>> load(OperationKey key) = 0;
    // The same where it needs no waiting; nothing where only load() can tell.
    virtual std::optional<Result<Loaded>> load_now(const OperationKey&) { return std::nullopt; }

    // Durable when it ends in success. conflict: version, epoch or existence did not match, nothing changed.
    // unavailable/overloaded: nothing changed. indeterminate: it may or may not be there. Either a sync failed and the
    // store has latched itself shut until the next start, or the disk is full: then the store takes no commits until
    // there is space, has found out by itself what is there by the time it takes them again, and load() says so.
    // The commit is read before the call returns. The listener hears the end once, on `executor`, and never before the
    // call has returned; an io_context that is gone hears nothing.
    virtual void begin_commit(const Commit& commit, Executor executor, std::shared_ptr<CommitListener> listener) = 0;
    // The same, awaited.
    Task<Status> commit(Commit commit);

    // Bytes of an external payload. not_found when it is not kept.
    virtual Task<Result<std::string>> load_body(OperationKey key, BodyPart part) = 0;

    // Oldest first; the whole history, spilled and inline.
    virtual Task<Result<std::vector<HistoryEvent>>> load_history(OperationKey key) = 0;

    virtual Task<Result<ListPage>> list(ListQuery query) = 0;

    // Step references: the operation ID that was allocated for (tenant, step), or the proposed one, now kept, until
    // the tombstone of that operation is dropped. "SCOPE\nID" stands for an operation that has a scope.
    virtual Task<Result<std::string>> allocate_step(std::string tenant, std::string step, std::string proposed_id) = 0;

    // Operations in doubt (unknown) whose next step is due at or before `until`, oldest date first, from behind
    // `after` on. Those that wait for a caller or a person have no date that a sweep could keep. Reads only the open
    // index.
    virtual Task<Result<std::vector<Operation>>> due(Instant until, DuePlace after, std::size_t limit) = 0;

    // Everything that is in_progress, for the start after a crash (owners of earlier epochs). Open index only.
    virtual Task<Result<std::vector<Operation>>> in_progress() = 0;

    // Retires final records older than records_kept_until, and prepared and awaiting_approval ones, whose tombstone
    // says cancelled: nothing was sent or nothing took effect, and nobody has asked for them since. Drops tombstones
    // older than tombstones_kept_until, and with them the step references to them. Works in bounded steps; never
    // touches an operation that is unknown, needs_review or in_progress.
    virtual Task<Result<SweepResult>> sweep(Instant records_kept_until, Instant tombstones_kept_until, Instant now) = 0;

    // Facts that outlive operations, such as that a provider was seen to honour its key. Few and short (up to 1 KiB
    // each), kept for ever. Durable when remember() returns success.
    virtual Task<Status> remember(std::string fact) = 0;
    virtual Task<Result<std::vector<std::string>>> remembered() = 0;

    virtual StoreHealth health() const = 0;
};

namespace commit_detail {

template <class Handler>
class Held final : public CommitListener {
public:
    explicit Held(Handler handler) : handler_(std::move(handler)) {}
    void committed(Status status) override { std::move(handler_)(std::move(status)); }

private:
    Handler handler_;
};

}  // namespace commit_detail

// Awaits begin_commit(); `commit` has to be there until the task is awaited.
inline Task<Status> awaited_commit(OperationStore& store, const Commit& commit) {
    auto initiation = [&store, &commit](auto handler) {
        const Executor executor = boost::asio::get_associated_executor(handler);
        using Handler = decltype(handler);
        store.begin_commit(commit, executor, std::make_shared<commit_detail::Held<Handler>>(std::move(handler)));
    };
    return boost::asio::async_initiate<decltype(use_task), void(Status)>(initiation, use_task);
}

inline Task<Status> OperationStore::commit(Commit commit) {
    const Commit kept = std::move(commit);
    Status status = co_await awaited_commit(*this, kept);
    co_return status;
}

}  // namespace opid
