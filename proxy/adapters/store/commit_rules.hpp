#pragma once
// What every store agrees on: which commit may follow which record, what leaves the record for a place of its
// own, what a listing shows. Pure; shared by the memory and the RocksDB store.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ports/operation_store.hpp"

namespace opid {

// The few facts of a record that the store itself acts upon.
struct RecordFacts {
    std::uint64_t version = 0;
    std::uint64_t epoch = 0;
    Instant created{};
    Instant updated{};
    Instant next_at{};
    std::uint32_t provider_tag = 0;  // see provider_tag()
    OperationStatus status = OperationStatus::prepared;
    NextStepKind next = NextStepKind::none;
    bool request_beside = false;  // body kept outside the record
    bool response_beside = false;
    bool spilled = false;  // older history is kept outside the record
    friend bool operator==(const RecordFacts&, const RecordFacts&) = default;
};

RecordFacts facts_of(const Operation& operation);

// Tells most providers apart in an index of fixed size; the record itself decides.
std::uint32_t provider_tag(std::string_view provider);

// A commit taken apart for the disk.
struct PreparedCommit {
    OperationKey key;
    std::uint64_t expected_version = 0;
    std::uint64_t expected_epoch = 0;
    RecordFacts facts;
    std::string tenant;  // and scope: of a first commit only
    std::string scope;
    std::string record;                  // encode_operation, without what is kept beside it
    std::optional<std::string> request;  // bytes to keep beside the record
    std::optional<std::string> response;
    std::string spilled;              // encode_history, empty: none
    std::uint64_t spilled_first = 0;  // sequence of its first event
    bool claim = false;               // adds work: refused first when space or queue runs out

    std::size_t bytes() const;
};

// invalid: the commit contradicts itself (version, sizes, history without a break, text too long).
Result<PreparedCommit> prepare_commit(const Commit& commit, std::size_t inline_body_bytes_max);

// What the store holds for a key, as far as the decision needs it.
struct StoredState {
    enum class Kind : std::uint8_t { absent, tombstone, record };
    Kind kind = Kind::absent;
    RecordFacts facts;
};

// Success, conflict, or invalid (a final record can't be opened again; a body that was never stored).
Status may_follow(const PreparedCommit& commit, const StoredState& stored);

// In doubt, with a step and a date (not 1970): what due() looks at.
bool has_due_date(const RecordFacts& facts);

// A record that a sweep turns into a tombstone: a final one, or one of which nothing was sent or nothing took effect
// and that nobody asked for since. Never one that is running or in doubt.
bool may_retire(const RecordFacts& facts, Instant records_kept_until);

// What its tombstone says: an open one was given up.
OperationStatus retired_status(OperationStatus status);

bool matches(const ListQuery& query, const Operation& operation);

// The part of matches() that can be told without the record; false only where matches() is false.
bool may_match(const ListQuery& query, const OperationKey& key, const RecordFacts& facts);

// Place in a listing, newest first: by creation, then key.
struct ListPlace {
    Instant created{};
    OperationKey key;
    friend auto operator<=>(const ListPlace&, const ListPlace&) = default;
};
std::string encode_cursor(const ListPlace& place);
Result<std::optional<ListPlace>> decode_cursor(std::string_view text);  // empty text: from the start
std::size_t list_limit(const ListQuery& query);                         // 1 to 1000

// Where a step reference lives; same tenant prefix as operations.
std::string step_key(std::string_view tenant, std::string_view step);
// The operation that a step reference names, by what is stored for it: "ID" or "SCOPE\nID".
OperationKey step_owner(std::string_view tenant, std::string_view named);
constexpr std::size_t step_named_bytes_max = 512;  // an operation ID behind its scope
Status check_step(std::string_view tenant, std::string_view step, std::string_view proposed_id);
Status check_fact(std::string_view fact);

inline std::string_view bytes_of(const OperationKey& key) {
    return {reinterpret_cast<const char*>(key.bytes.data()), key.bytes.size()};
}

}  // namespace opid
