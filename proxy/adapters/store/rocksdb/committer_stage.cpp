// What one commit puts into the round's batch, after it was decided against the store and the earlier ones.
#include "adapters/store/rocksdb/committer.hpp"
#include "base/invariant.hpp"
#include "core/operation/record_codec.hpp"

namespace opid {

Result<StoredState> Committer::stored_state(const Round& round, const OperationKey& key) {
    const auto decided = round.records.find(key);
    if (decided != round.records.end()) return decided->second;
    StoredState state;
    if (const RecordFacts* open = parts_.index.find_as_writer(key)) {
        state.kind = StoredState::Kind::record;
        state.facts = *open;
        return state;
    }
    rocksdb::PinnableSlice value;
    const rocksdb::Status status = parts_.database.db().Get(
        rocksdb::ReadOptions(), parts_.database.family(Family::operations), slice(bytes_of(key)), &value);
    if (status.IsNotFound()) return state;
    if (!status.ok() || value.empty()) {
        return Error(ErrorKind::unavailable, "the store can't be read: " + status.ToString());
    }
    if (value[0] == tag_tombstone) {
        state.kind = StoredState::Kind::tombstone;
        return state;
    }
    const Result<Operation> operation = decode_operation(view(value).substr(1));
    if (!operation) return Error(ErrorKind::unavailable, operation.error().what());
    state.kind = StoredState::Kind::record;
    state.facts = facts_of(*operation);
    return state;
}

Status Committer::decide(Round& round, PreparedCommit& commit) {
    if (Status open = writable(); !open) return open;
    const Result<StoredState> stored = stored_state(round, commit.key);
    if (!stored) return stored.error();
    if (Status allowed = may_follow(commit, *stored); !allowed) return allowed;
    return stage(round, commit, *stored);
}

Status Committer::stage(Round& round, PreparedCommit& commit, const StoredState& stored) {
    const rocksdb::Slice key = slice(bytes_of(commit.key));
    const bool was_record = stored.kind == StoredState::Kind::record;
    const bool was_final = was_record && is_final(stored.facts.status);
    rocksdb::Status status;
    if (is_final(commit.facts.status)) {
        const rocksdb::Slice value[2] = {rocksdb::Slice(&tag_record, 1), commit.record};
        status = batch_.Put(parts_.database.family(Family::operations), rocksdb::SliceParts(&key, 1),
                            rocksdb::SliceParts(value, 2));
        const TimedKey place = timed_key(commit.facts.created, commit.key);
        const FinalFacts facts = final_facts(commit.facts);
        if (status.ok()) {
            status = batch_.Put(parts_.database.family(Family::by_time), slice(view_of(place)), slice(view_of(facts)));
        }
        if (status.ok() && was_record && !was_final) {
            // Not SingleDelete: an open record may have been overwritten any number of times.
            status = batch_.Delete(parts_.database.family(Family::open), key);
        }
        if (status.ok() && was_final && stored.facts.created != commit.facts.created) {
            const TimedKey before = timed_key(stored.facts.created, commit.key);
            status = batch_.Delete(parts_.database.family(Family::by_time), slice(view_of(before)));
        }
    } else {
        status = batch_.Put(parts_.database.family(Family::open), key, commit.record);
    }
    OPID_INVARIANT(status.ok());  // a batch without a size limit only grows; half a transition must not be written
    OPID_INVARIANT(stage_bodies(round, commit, stored).has_value());
    stage_scope(round, commit);
    StoredState& after = round.records[commit.key];
    after.kind = StoredState::Kind::record;
    after.facts = commit.facts;
    ++round.commits;
    return ok();
}

Status Committer::stage_bodies(Round&, PreparedCommit& commit, const StoredState& stored) {
    const bool was_record = stored.kind == StoredState::Kind::record;
    rocksdb::ColumnFamilyHandle* bodies = parts_.database.family(Family::bodies);
    rocksdb::Status status;
    const auto place = [&](BodyPart part, const std::optional<std::string>& bytes, bool beside, bool was_beside) {
        if (!status.ok() || (!bytes && beside == was_beside)) return;
        const std::string key = body_key(commit.key, part);
        if (bytes) {
            status = batch_.Put(bodies, key, *bytes);
        } else if (!beside) {
            status = batch_.Delete(bodies, key);
        }
    };
    // The request is immutable once recorded: what is there already isn't written again.
    const bool request_stored = was_record && stored.facts.request_beside;
    if (request_stored && commit.facts.request_beside) commit.request.reset();
    place(BodyPart::request, commit.request, commit.facts.request_beside, request_stored);
    place(BodyPart::response, commit.response, commit.facts.response_beside,
          was_record && stored.facts.response_beside);
    if (status.ok() && !commit.spilled.empty()) {
        status = batch_.Put(parts_.database.family(Family::history), history_key(commit.key, commit.spilled_first),
                            commit.spilled);
    }
    if (!status.ok()) return Error(ErrorKind::internal, status.ToString());
    return ok();
}

void Committer::stage_scope(Round& round, const PreparedCommit& commit) {
    if (commit.expected_version != 0) return;
    const std::string key = scope_key(commit.tenant, commit.scope);
    if (known_scopes_.count(key) != 0) return;
    OPID_INVARIANT(batch_.Put(parts_.database.family(Family::meta), key, rocksdb::Slice()).ok());
    round.scopes.emplace_back(commit.tenant, commit.scope);
}

Result<std::string> Committer::decide_step(Round& round, const QueuedStep& step) {
    if (const Status open = writable(); !open) return open.error();
    const auto decided = round.steps.find(step.key);
    if (decided != round.steps.end()) return decided->second;
    rocksdb::ColumnFamilyHandle* steps = parts_.database.family(Family::steps);
    std::string stored;
    const rocksdb::Status status = parts_.database.db().Get(rocksdb::ReadOptions(), steps, step.key, &stored);
    if (status.ok()) return stored;
    if (!status.IsNotFound()) return Error(ErrorKind::unavailable, "the store can't be read: " + status.ToString());
    OPID_INVARIANT(batch_.Put(steps, step.key, step.proposed_id).ok());
    OPID_INVARIANT(batch_.Put(steps, owned_step_key(step.owner, step.key), rocksdb::Slice()).ok());
    round.steps.emplace(step.key, step.proposed_id);
    ++round.commits;
    return step.proposed_id;
}

}  // namespace opid
