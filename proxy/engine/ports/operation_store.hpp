#pragma once
// Where operations live. One conformance suite (tests/conformance) holds for every implementation.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

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

    // Durable when it returns success. conflict: version, epoch or existence did not match, nothing changed.
    // unavailable/overloaded: nothing changed. indeterminate: nobody knows; the store has latched itself shut.
    virtual Task<Status> commit(Commit commit) = 0;

    // Bytes of an external payload. not_found when it is not kept.
    virtual Task<Result<std::string>> load_body(OperationKey key, BodyPart part) = 0;

    // Oldest first; the whole history, spilled and inline.
    virtual Task<Result<std::vector<HistoryEvent>>> load_history(OperationKey key) = 0;

    virtual Task<Result<ListPage>> list(ListQuery query) = 0;

    // Step references: the operation ID that was allocated for (tenant, step), or the proposed one, now kept.
    virtual Task<Result<std::string>> allocate_step(std::string tenant, std::string step, std::string proposed_id) = 0;

    // Operations whose next step is due at or before `until`, oldest date first. Reads only the open index.
    virtual Task<Result<std::vector<Operation>>> due(Instant until, std::size_t limit) = 0;

    // Everything that is in_progress, for the start after a crash (owners of earlier epochs). Open index only.
    virtual Task<Result<std::vector<Operation>>> in_progress() = 0;

    // Retires final records older than records_kept_until and drops tombstones older than tombstones_kept_until.
    // Works in bounded steps; never touches an open operation that is unknown, needs_review or in_progress.
    virtual Task<Result<SweepResult>> sweep(Instant records_kept_until, Instant tombstones_kept_until, Instant now) = 0;

    virtual StoreHealth health() const = 0;
};

}  // namespace opid
