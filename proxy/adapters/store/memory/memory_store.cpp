#include "adapters/store/memory/memory_store.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <variant>

#include <boost/asio/post.hpp>

#include "adapters/store/commit_rules.hpp"
#include "core/operation/record_codec.hpp"

namespace opid {

struct MemoryStore::Contents {
    struct Entry {
        RecordFacts facts;
        std::string record;  // empty: a tombstone
        std::string tombstone;
        std::string request;
        std::string response;
        std::vector<std::string> spilled;  // encoded chunks, oldest first
    };
    std::map<OperationKey, Entry> operations;
    std::map<std::string, std::string> steps;
    std::multimap<OperationKey, std::string> steps_of;
    std::set<std::string> facts;
};

struct MemoryStore::Impl {
    explicit Impl(MemoryOptions given) : options(std::move(given)) {}

    MemoryOptions options;
    mutable std::mutex mutex;
    Contents contents;
    unsigned calls = 0;
    std::uint64_t commits = 0;
    bool refuses_claims = false;
    bool latched = false;

    // Runs one port member under the lock, between the two calls of the fault hook.
    template <class T, class Action>
    Result<T> call(std::string_view name, Action action) {
        const std::lock_guard lock(mutex);
        const unsigned n = ++calls;
        if (options.fault) {
            const Status before = options.fault(name, n, true);
            if (!before) return fail(name, before.error());
        }
        Result<T> result = action();
        if (!options.fault) return result;
        const Status after = options.fault(name, n, false);
        if (!after) return fail(name, after.error());
        return result;
    }

    Error fail(std::string_view name, const Error& error) {
        if (name == "commit" && error.kind() == ErrorKind::indeterminate) latched = true;
        return error;
    }

    Result<Loaded> load(const OperationKey& key) const;
    Status commit(PreparedCommit commit);
    Result<std::string> load_body(const OperationKey& key, BodyPart part) const;
    Result<std::vector<HistoryEvent>> load_history(const OperationKey& key) const;
    Result<ListPage> list(const ListQuery& query) const;
    Result<std::string> allocate_step(const std::string& tenant, const std::string& step, const std::string& id);
    Result<std::vector<Operation>> due(Instant until, const DuePlace& after, std::size_t limit) const;
    Result<std::vector<Operation>> in_progress() const;
    SweepResult sweep(Instant records_kept_until, Instant tombstones_kept_until, Instant now);
    void forget_steps(const OperationKey& key);
    Status admit(bool claim) const;
};

namespace {

Error not_found(std::string_view what) { return {ErrorKind::not_found, std::string(what)}; }

}  // namespace

Status MemoryStore::Impl::admit(bool claim) const {
    if (latched) return Error(ErrorKind::unavailable, "the store has stopped after a failed write");
    if (claim && refuses_claims) return Error(ErrorKind::unavailable, "the disk is nearly full");
    return ok();
}

Result<Loaded> MemoryStore::Impl::load(const OperationKey& key) const {
    const auto found = contents.operations.find(key);
    if (found == contents.operations.end()) return Loaded{Absent{}};
    if (found->second.record.empty()) {
        const Result<Tombstone> tombstone = decode_tombstone(found->second.tombstone);
        if (!tombstone) return tombstone.error();
        return Loaded{*tombstone};
    }
    Result<Operation> operation = decode_operation(found->second.record);
    if (!operation) return operation.error();
    return Loaded{std::move(*operation)};
}

Status MemoryStore::Impl::commit(PreparedCommit commit) {
    if (Status admitted = admit(commit.claim); !admitted) return admitted;
    StoredState stored;
    const auto found = contents.operations.find(commit.key);
    if (found != contents.operations.end()) {
        const bool record = !found->second.record.empty();
        stored.kind = record ? StoredState::Kind::record : StoredState::Kind::tombstone;
        stored.facts = found->second.facts;
    }
    if (Status allowed = may_follow(commit, stored); !allowed) return allowed;
    Contents::Entry& entry = contents.operations[commit.key];
    if (commit.request) entry.request = std::move(*commit.request);
    if (!commit.facts.request_beside) entry.request.clear();
    if (commit.response) entry.response = std::move(*commit.response);
    if (!commit.facts.response_beside) entry.response.clear();
    if (!commit.spilled.empty()) entry.spilled.push_back(std::move(commit.spilled));
    entry.record = std::move(commit.record);
    entry.facts = commit.facts;
    ++commits;
    return ok();
}

Result<std::string> MemoryStore::Impl::load_body(const OperationKey& key, BodyPart part) const {
    const auto found = contents.operations.find(key);
    const bool request = part == BodyPart::request;
    if (found != contents.operations.end() && !found->second.record.empty()) {
        const Contents::Entry& entry = found->second;
        if (request ? entry.facts.request_beside : entry.facts.response_beside) {
            return request ? entry.request : entry.response;
        }
    }
    return not_found("no such body is kept");
}

Result<std::vector<HistoryEvent>> MemoryStore::Impl::load_history(const OperationKey& key) const {
    const auto found = contents.operations.find(key);
    if (found == contents.operations.end() || found->second.record.empty()) return not_found("no such operation");
    std::vector<HistoryEvent> events;
    for (const std::string& chunk : found->second.spilled) {
        Result<std::vector<HistoryEvent>> older = decode_history(chunk);
        if (!older) return older.error();
        std::move(older->begin(), older->end(), std::back_inserter(events));
    }
    Result<Operation> operation = decode_operation(found->second.record);
    if (!operation) return operation.error();
    std::move(operation->history.begin(), operation->history.end(), std::back_inserter(events));
    return events;
}

Result<ListPage> MemoryStore::Impl::list(const ListQuery& query) const {
    const Result<std::optional<ListPlace>> cursor = decode_cursor(query.cursor);
    if (!cursor) return cursor.error();
    std::set<ListPlace, std::greater<>> places;
    for (const auto& [key, entry] : contents.operations) {
        const ListPlace place{entry.facts.created, key};
        const bool later_page = !*cursor || place < **cursor;
        if (!entry.record.empty() && later_page && may_match(query, key, entry.facts)) places.insert(place);
    }
    ListPage page;
    std::optional<ListPlace> last;
    for (const ListPlace& place : places) {
        Result<Operation> operation = decode_operation(contents.operations.at(place.key).record);
        if (!operation) return operation.error();
        if (!matches(query, *operation)) continue;
        if (page.operations.size() == list_limit(query)) {
            page.next_cursor = encode_cursor(*last);
            break;
        }
        page.operations.push_back(std::move(*operation));
        last = place;
    }
    return page;
}

Result<std::string> MemoryStore::Impl::allocate_step(const std::string& tenant, const std::string& step,
                                                     const std::string& id) {
    if (Status right = check_step(tenant, step, id); !right) return right.error();
    const std::string key = step_key(tenant, step);
    const auto found = contents.steps.find(key);
    if (found != contents.steps.end()) return found->second;
    if (Status admitted = admit(true); !admitted) return admitted.error();
    contents.steps.emplace(key, id);
    contents.steps_of.emplace(step_owner(tenant, id), key);
    ++commits;
    return id;
}

Result<std::vector<Operation>> MemoryStore::Impl::due(Instant until, const DuePlace& after, std::size_t limit) const {
    std::set<DuePlace> dates;
    for (const auto& [key, entry] : contents.operations) {
        const bool open = !entry.record.empty() && has_due_date(entry.facts);
        if (open && entry.facts.next_at <= until) dates.insert({entry.facts.next_at, key});
    }
    std::vector<Operation> operations;
    for (auto at = dates.upper_bound(after); at != dates.end() && operations.size() < limit; ++at) {
        Result<Operation> operation = decode_operation(contents.operations.at(at->key).record);
        if (!operation) return operation.error();
        operations.push_back(std::move(*operation));
    }
    return operations;
}

Result<std::vector<Operation>> MemoryStore::Impl::in_progress() const {
    std::vector<Operation> operations;
    for (const auto& [key, entry] : contents.operations) {
        if (entry.record.empty() || entry.facts.status != OperationStatus::in_progress) continue;
        Result<Operation> operation = decode_operation(entry.record);
        if (!operation) return operation.error();
        operations.push_back(std::move(*operation));
    }
    return operations;
}

void MemoryStore::Impl::forget_steps(const OperationKey& key) {
    const auto [first, last] = contents.steps_of.equal_range(key);
    for (auto at = first; at != last; ++at) contents.steps.erase(at->second);
    contents.steps_of.erase(first, last);
}

SweepResult MemoryStore::Impl::sweep(Instant records_kept_until, Instant tombstones_kept_until, Instant now) {
    SweepResult result;
    for (auto at = contents.operations.begin(); at != contents.operations.end();) {
        Contents::Entry& entry = at->second;
        if (!entry.record.empty() && may_retire(entry.facts, records_kept_until)) {
            const RecordFacts facts = entry.facts;
            entry = Contents::Entry{};
            entry.facts = facts;
            entry.tombstone = encode_tombstone({retired_status(facts.status), facts.created, now});
            ++result.retired;
        }
        bool forget = false;
        if (entry.record.empty()) {
            const Result<Tombstone> tombstone = decode_tombstone(entry.tombstone);
            forget = tombstone && tombstone->retired < tombstones_kept_until;
        }
        if (forget) forget_steps(at->first);
        result.forgotten += forget ? 1 : 0;
        at = forget ? contents.operations.erase(at) : std::next(at);
    }
    return result;
}

MemoryStore::MemoryStore() : MemoryStore(MemoryOptions{}) {}
MemoryStore::MemoryStore(MemoryOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
MemoryStore::MemoryStore(MemoryOptions options, const Snapshot& disk) : MemoryStore(std::move(options)) {
    impl_->contents = *disk;
}
MemoryStore::~MemoryStore() = default;

Task<Result<Loaded>> MemoryStore::load(OperationKey key) {
    co_return impl_->call<Loaded>("load", [&] { return impl_->load(key); });
}

void MemoryStore::begin_commit(const Commit& commit, Executor executor, std::shared_ptr<CommitListener> listener) {
    Result<PreparedCommit> prepared = prepare_commit(commit, impl_->options.inline_body_bytes_max);
    boost::asio::post(executor, [impl = impl_.get(), prepared = std::move(prepared), listener]() mutable {
        Status status = prepared ? impl->call<Unit>("commit", [&] { return impl->commit(std::move(*prepared)); })
                                 : Status(prepared.error());
        listener->committed(std::move(status));
    });
}

Task<Result<std::string>> MemoryStore::load_body(OperationKey key, BodyPart part) {
    co_return impl_->call<std::string>("load_body", [&] { return impl_->load_body(key, part); });
}

Task<Result<std::vector<HistoryEvent>>> MemoryStore::load_history(OperationKey key) {
    co_return impl_->call<std::vector<HistoryEvent>>("load_history", [&] { return impl_->load_history(key); });
}

Task<Result<ListPage>> MemoryStore::list(ListQuery query) {
    co_return impl_->call<ListPage>("list", [&] { return impl_->list(query); });
}

Task<Result<std::string>> MemoryStore::allocate_step(std::string tenant, std::string step, std::string proposed_id) {
    co_return impl_->call<std::string>("allocate_step",
                                       [&] { return impl_->allocate_step(tenant, step, proposed_id); });
}

Task<Result<std::vector<Operation>>> MemoryStore::due(Instant until, DuePlace after, std::size_t limit) {
    co_return impl_->call<std::vector<Operation>>("due", [&] { return impl_->due(until, after, limit); });
}

Task<Result<std::vector<Operation>>> MemoryStore::in_progress() {
    co_return impl_->call<std::vector<Operation>>("in_progress", [&] { return impl_->in_progress(); });
}

Task<Result<SweepResult>> MemoryStore::sweep(Instant records_kept_until, Instant tombstones_kept_until, Instant now) {
    co_return impl_->call<SweepResult>(
        "sweep", [&]() -> Result<SweepResult> { return impl_->sweep(records_kept_until, tombstones_kept_until, now); });
}

Task<Status> MemoryStore::remember(std::string fact) {
    co_return impl_->call<Unit>("remember", [&]() -> Status {
        if (Status right = check_fact(fact); !right) return right;
        if (Status admitted = impl_->admit(true); !admitted) return admitted;
        impl_->contents.facts.insert(fact);
        return ok();
    });
}

Task<Result<std::vector<std::string>>> MemoryStore::remembered() {
    co_return impl_->call<std::vector<std::string>>("remembered", [&]() -> Result<std::vector<std::string>> {
        return std::vector<std::string>(impl_->contents.facts.begin(), impl_->contents.facts.end());
    });
}

StoreHealth MemoryStore::health() const {
    const std::lock_guard lock(impl_->mutex);
    StoreHealth health;
    health.latched = impl_->latched;
    health.writable = !impl_->latched && !impl_->refuses_claims;
    if (impl_->latched) health.reason = "the store has stopped after a failed write";
    else if (impl_->refuses_claims) health.reason = "the disk is nearly full";
    health.commits = health.syncs = impl_->commits;
    for (const auto& [key, entry] : impl_->contents.operations) {
        health.open_operations += !entry.record.empty() && !is_final(entry.facts.status) ? 1 : 0;
    }
    return health;
}

MemoryStore::Snapshot MemoryStore::snapshot() const {
    const std::lock_guard lock(impl_->mutex);
    return std::make_shared<const Contents>(impl_->contents);
}

void MemoryStore::refuse_claims(bool refuse) {
    const std::lock_guard lock(impl_->mutex);
    impl_->refuses_claims = refuse;
}

}  // namespace opid
