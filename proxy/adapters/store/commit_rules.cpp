#include "adapters/store/commit_rules.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/encoding.hpp"
#include "core/operation/record_codec.hpp"

namespace opid {
namespace {

constexpr std::size_t record_bytes_max = 16 * 1024 * 1024;
constexpr std::size_t id_bytes_max = 255;
constexpr std::size_t step_bytes_max = 4096;
constexpr std::size_t fact_bytes_max = 1024;
constexpr std::size_t tenant_prefix = 8;

Error invalid(std::string_view what) { return {ErrorKind::invalid, "commit: " + std::string(what)}; }

// A large body is kept beside the record; beside stays empty where the bytes are in the record, or were stored by an
// earlier commit. is_beside is what the record says.
const char* split(const Payload& payload, std::optional<std::string>& beside, bool& is_beside, std::size_t inline_max) {
    if (!payload.kept) {
        return payload.external || !payload.bytes.empty() ? "bytes of a payload that is not kept" : nullptr;
    }
    is_beside = payload.external || payload.bytes.size() > inline_max;
    if (payload.external && payload.bytes.empty()) return nullptr;
    if (payload.bytes.size() != payload.size) return "payload size";
    if (is_beside) beside = payload.bytes;
    return nullptr;
}

const char* check_history(const Operation& operation, const std::vector<HistoryEvent>& spilled) {
    std::uint64_t expected = operation.history_length - operation.history.size() + 1;
    if (operation.history_length < operation.history.size()) return "history length";
    for (const HistoryEvent& event : operation.history) {
        if (event.sequence != expected++) return "history sequence";
    }
    expected = operation.history_length - operation.history.size();
    for (auto event = spilled.rbegin(); event != spilled.rend(); ++event) {
        if (event->sequence != expected-- || event->sequence == 0) return "sequence of the spilled history";
    }
    return nullptr;
}

const char* check(const Operation& operation, std::uint64_t expected_version) {
    if (operation.version != expected_version + 1) return "version is not the expected one plus 1";
    if (operation.id.empty() || operation.id.size() > id_bytes_max) return "operation ID";
    if (operation.created < Instant{} || operation.updated < Instant{}) return "a time before 1970";
    return nullptr;
}

}  // namespace

std::uint32_t provider_tag(std::string_view provider) {
    std::uint32_t tag = 2166136261U;  // FNV-1a; stored in the listing index, so frozen
    for (const char c : provider) tag = (tag ^ static_cast<std::uint8_t>(c)) * 16777619U;
    return tag;
}

RecordFacts facts_of(const Operation& operation) {
    RecordFacts facts;
    facts.version = operation.version;
    facts.epoch = operation.owner.epoch;
    facts.created = operation.created;
    facts.updated = operation.updated;
    facts.next_at = operation.next_step.at;
    facts.provider_tag = provider_tag(operation.provider);
    facts.status = operation.status;
    facts.next = operation.next_step.kind;
    facts.request_beside = operation.intent.body.external;
    facts.response_beside = operation.response && operation.response->body.external;
    facts.spilled = operation.history_length > operation.history.size();
    return facts;
}

std::size_t PreparedCommit::bytes() const {
    return record.size() + (request ? request->size() : 0) + (response ? response->size() : 0) + spilled.size();
}

Result<PreparedCommit> prepare_commit(const Commit& commit, std::size_t inline_body_bytes_max) {
    const Operation& operation = commit.operation;
    if (const char* wrong = check(operation, commit.expected_version)) return invalid(wrong);
    if (const char* wrong = check_history(operation, commit.spilled)) return invalid(wrong);
    Result<PreparedCommit> result;
    PreparedCommit& out = *result;
    out.facts = facts_of(operation);
    const Payload& request = operation.intent.body;
    if (const char* wrong = split(request, out.request, out.facts.request_beside, inline_body_bytes_max)) {
        return invalid(wrong);
    }
    if (operation.response) {
        const Payload& response = operation.response->body;
        if (const char* wrong = split(response, out.response, out.facts.response_beside, inline_body_bytes_max)) {
            return invalid(wrong);
        }
    }
    out.key = operation.key;
    out.expected_version = commit.expected_version;
    out.expected_epoch = commit.expected_epoch;
    out.record = encode_operation(operation, inline_body_bytes_max);
    if (out.record.size() > record_bytes_max) return invalid("the record is over 16 MiB");
    if (!commit.spilled.empty()) {
        out.spilled = encode_history(commit.spilled);
        out.spilled_first = commit.spilled.front().sequence;
    }
    out.claim = commit.expected_version == 0 || operation.status == OperationStatus::in_progress;
    if (commit.expected_version == 0) {
        out.tenant = operation.tenant;
        out.scope = operation.scope;
    }
    return result;
}

Status may_follow(const PreparedCommit& commit, const StoredState& stored) {
    using Kind = StoredState::Kind;
    const bool record = stored.kind == Kind::record;
    if (commit.expected_version == 0) {
        if (record) return Error(ErrorKind::conflict, "the operation exists already");
        if (stored.kind == Kind::tombstone) {
            return Error(ErrorKind::conflict, "the operation ID is spent: a tombstone is kept for it");
        }
    } else {
        if (!record) return Error(ErrorKind::conflict, "the operation does not exist (any more)");
        if (stored.facts.version != commit.expected_version) {
            return Error(ErrorKind::conflict,
                         fmt::format("version {} expected, {} stored", commit.expected_version, stored.facts.version));
        }
        if (commit.expected_epoch != 0 && stored.facts.epoch != commit.expected_epoch) {
            return Error(ErrorKind::conflict,
                         fmt::format("owner epoch {} expected, {} stored", commit.expected_epoch, stored.facts.epoch));
        }
        if (is_final(stored.facts.status) && !is_final(commit.facts.status)) {
            return invalid("a final record can't be opened again");
        }
    }
    const bool request_known = commit.request || (record && stored.facts.request_beside);
    const bool response_known = commit.response || (record && stored.facts.response_beside);
    if ((commit.facts.request_beside && !request_known) || (commit.facts.response_beside && !response_known)) {
        return invalid("an external body that was never stored");
    }
    return ok();
}

bool has_due_date(const RecordFacts& facts) {
    return facts.status == OperationStatus::unknown && facts.next != NextStepKind::none && facts.next_at != Instant{};
}

bool may_retire(const RecordFacts& facts, Instant records_kept_until) {
    const bool idle = facts.status == OperationStatus::prepared || facts.status == OperationStatus::awaiting_approval;
    return (idle || is_final(facts.status)) && facts.updated < records_kept_until;
}

OperationStatus retired_status(OperationStatus status) {
    return is_final(status) ? status : OperationStatus::cancelled;
}

bool matches(const ListQuery& query, const Operation& operation) {
    return (!query.status || operation.status == *query.status) &&
           (query.provider.empty() || operation.provider == query.provider) &&
           (query.tenant.empty() || operation.tenant == query.tenant) &&
           (query.id.empty() || operation.id == query.id) && (!query.since || operation.created >= *query.since);
}

bool may_match(const ListQuery& query, const OperationKey& key, const RecordFacts& facts) {
    if (query.status && facts.status != *query.status) return false;
    if (!query.provider.empty() && facts.provider_tag != provider_tag(query.provider)) return false;
    if (query.since && facts.created < *query.since) return false;
    if (query.tenant.empty()) return true;
    const OperationKey of_tenant = operation_key(query.tenant, {}, {});
    return std::equal(key.bytes.begin(), key.bytes.begin() + tenant_prefix, of_tenant.bytes.begin());
}

std::string encode_cursor(const ListPlace& place) {
    std::string bytes;
    const auto ms = static_cast<std::uint64_t>(to_unix_ms(place.created));
    for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(ms >> shift));
    bytes.append(bytes_of(place.key));
    return hex(bytes);
}

Result<std::optional<ListPlace>> decode_cursor(std::string_view text) {
    if (text.empty()) return std::optional<ListPlace>{};
    const std::optional<std::string> bytes = text.size() == 80 ? from_hex(text) : std::nullopt;
    if (!bytes || static_cast<std::uint8_t>((*bytes)[0]) > 0x7f) {
        return Error(ErrorKind::invalid, "cursor: not one that this listing gave out");
    }
    std::uint64_t ms = 0;
    for (std::size_t i = 0; i < 8; ++i) ms = (ms << 8) | static_cast<std::uint8_t>((*bytes)[i]);
    ListPlace place;
    place.created = from_unix_ms(static_cast<std::int64_t>(ms));
    std::copy(bytes->begin() + 8, bytes->end(), place.key.bytes.begin());
    return std::optional<ListPlace>{place};
}

std::size_t list_limit(const ListQuery& query) { return std::clamp<std::size_t>(query.limit, 1, 1000); }

std::string step_key(std::string_view tenant, std::string_view step) {
    // The scope can't be one that an operation uses (they are empty or a provider's name).
    const OperationKey key = operation_key(tenant, std::string_view("\0step", 5), step);
    return std::string(bytes_of(key));
}

OperationKey step_owner(std::string_view tenant, std::string_view named) {
    const std::size_t newline = named.find('\n');  // no part of an ID
    if (newline == std::string_view::npos) return operation_key(tenant, {}, named);
    return operation_key(tenant, named.substr(0, newline), named.substr(newline + 1));
}

Status check_fact(std::string_view fact) {
    if (fact.empty() || fact.size() > fact_bytes_max) return Error(ErrorKind::invalid, "a fact: length");
    return ok();
}

Status check_step(std::string_view, std::string_view step, std::string_view proposed_id) {
    if (step.empty() || step.size() > step_bytes_max) return Error(ErrorKind::invalid, "step reference: length");
    if (proposed_id.empty() || proposed_id.size() > step_named_bytes_max) {
        return Error(ErrorKind::invalid, "proposed operation ID: length");
    }
    return ok();
}

}  // namespace opid
