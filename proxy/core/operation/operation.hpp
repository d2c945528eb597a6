#pragma once
// The record of one operation: what the store keeps, what the state machine moves.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/sha256.hpp"
#include "base/time.hpp"
#include "core/operation/evidence.hpp"
#include "core/operation/status.hpp"
#include "core/operation/verdict.hpp"

namespace opid {

// Where a record lives: digest of the tenant (first 8 bytes) and of (tenant, scope, operation ID).
// No caller can choose its order or make a hot spot. Frozen: a change orphans every record.
struct OperationKey {
    std::array<std::uint8_t, 32> bytes{};
    friend auto operator<=>(const OperationKey&, const OperationKey&) = default;
};

// scope is empty for Operation-Id (one name for one action wherever it goes) and the provider's name
// for a native key, which means something to that provider alone.
OperationKey operation_key(std::string_view tenant, std::string_view scope, std::string_view id);

using StoredFields = std::vector<std::pair<std::string, std::string>>;

// A body as the record knows it. Small bodies are kept in the record, others beside it.
struct Payload {
    std::uint64_t size = 0;
    Digest digest{};
    bool kept = false;      // false: only size and digest are known
    bool external = false;  // kept outside the record; bytes is empty until loaded
    std::string bytes;
    friend bool operator==(const Payload&, const Payload&) = default;
};

// What the caller asked for, as bound to the operation ID. Immutable once recorded. No credentials.
struct RecordedIntent {
    std::string method;
    std::string scheme_authority;  // "https://api.example.com", of the provider, not of the route
    std::string target;            // path and query as raw bytes
    StoredFields headers;          // those that the rule counts, and Content-Type / Content-Encoding
    Payload body;
    friend bool operator==(const RecordedIntent&, const RecordedIntent&) = default;
};

struct RecordedResponse {
    int status = 0;
    std::string reason;
    StoredFields headers;  // only those that describe the result (core/answer/replay_fields.hpp)
    Payload body;
    bool recovered = false;  // found by a look-up, not received as an answer
    friend bool operator==(const RecordedResponse&, const RecordedResponse&) = default;
};

enum class AttemptKind : std::uint8_t { send = 1, look_up = 2 };  // stored: never renumber

struct Attempt {
    std::string id;  // "at_" and 26 base32hex digits
    AttemptKind kind = AttemptKind::send;
    Instant started{};
    std::optional<Instant> ended;
    std::uint32_t key_generation = 0;
    Evidence evidence;
    std::optional<Verdict> verdict;
    friend bool operator==(const Attempt&, const Attempt&) = default;
};

// Who may write to the provider for this operation now.
struct Owner {
    std::string node;         // empty: nobody
    std::uint64_t epoch = 0;  // of that node's process; a later start has a later epoch
    Instant lease_until{};
    friend bool operator==(const Owner&, const Owner&) = default;
};

// Stored: never renumber.
enum class NextStepKind : std::uint8_t {
    none = 0,          // final, or its owner is at work
    caller_retry = 1,  // waits for the caller to try again
    keyed_retry = 2,
    look_up = 3,
    review = 4,  // a person decides
    approval = 5,
};

struct NextStep {
    NextStepKind kind = NextStepKind::none;
    Instant at{};
    friend bool operator==(const NextStep&, const NextStep&) = default;
};

// One line of the append-only history.
struct HistoryEvent {
    std::uint64_t sequence = 0;  // from 1, without gaps
    Instant at{};
    std::string what;        // event word of the state machine: "claimed", "answered", "resolved", ...
    std::string actor;       // "caller", "opid", or the name of an admin token
    OperationStatus from{};  // same as to where the event did not move it
    OperationStatus to{};
    std::string detail;  // plain words, never a secret, at most 1 KiB
    friend bool operator==(const HistoryEvent&, const HistoryEvent&) = default;
};

// An approval as it was granted; see core/approval.
struct ApprovalRecord {
    std::string approver;
    std::string digest_hex;
    std::string scope;
    Instant granted{};
    Instant expires{};
    friend bool operator==(const ApprovalRecord&, const ApprovalRecord&) = default;
};

struct Operation {
    OperationKey key;
    std::uint64_t version = 0;  // 0: not stored yet; every commit adds one
    std::string tenant;
    std::string scope;  // see operation_key
    std::string id;
    std::string provider;
    std::string rule;
    std::string profile_digest;  // of the profile text under which digest was made
    Digest digest{};             // canonical
    Digest raw_digest{};
    RecordedIntent intent;

    OperationStatus status = OperationStatus::prepared;
    bool doubt = false;               // an attempt may have had its effect and nothing has settled that yet
    bool keyed_retry_closed = false;  // another send under this key can't tell anything new
    std::uint32_t sends = 0;          // attempts of kind send that reached Stage::head_written or may have
    std::uint32_t key_generation = 0;
    std::string provider_key;                 // of the present generation; empty where the provider has none
    std::string key_carrier;                  // where that key was put, see KeyRule::placement(); empty: not known
    std::string provider_ref;                 // the provider's name for the effect, where known
    std::optional<Instant> first_sent;        // of the present key generation: its window counts from here
    std::optional<Instant> retry_not_before;  // the provider asked to wait
    std::uint32_t look_ups = 0;

    Owner owner;
    std::vector<Attempt> attempts;  // the newest attempts_max; older ones live on in the history
    std::optional<RecordedResponse> response;
    std::optional<ApprovalRecord> approval;
    NextStep next_step;
    Instant created{};
    Instant updated{};
    std::vector<HistoryEvent> history;  // the newest events; older ones are moved out by spill_history
    std::uint64_t history_length = 0;   // all events ever

    friend bool operator==(const Operation&, const Operation&) = default;
};

inline constexpr std::size_t attempts_max = 32;
inline constexpr std::size_t inline_history_max = 24;

// What is left of an operation past retention: enough to refuse the ID for ever.
struct Tombstone {
    OperationStatus status{};
    Instant created{};
    Instant retired{};
    friend bool operator==(const Tombstone&, const Tombstone&) = default;
};

// Takes the oldest events out of a record whose inline history has grown past inline_history_max; the
// caller hands them to the same store write.
std::vector<HistoryEvent> spill_history(Operation& operation);

}  // namespace opid
