#pragma once
// Families, keys and small values of the database. All of it is on disk: never change a layout, add a new one
// and raise key_format.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/store/commit_rules.hpp"

namespace opid {

inline constexpr std::string_view key_format = "1";

enum class Family : std::uint8_t {
    meta,        // name -> value: "format", "scope/..." for every (tenant, scope) that was ever seen, "fact/..."
    operations,  // operation key -> tag, final record or tombstone
    open,        // operation key -> record while it is not final
    by_time,     // created, operation key -> facts of a final record; for listings and sweeps
    expiry,      // retired, operation key -> nothing; tombstones by age
    bodies,      // operation key, part -> bytes
    history,     // operation key, sequence of the first event -> chunk of spilled events
    steps,       // step key -> operation ID; operation key, step key -> nothing, to find the steps of an operation
};
inline constexpr std::size_t family_count = 8;
inline constexpr std::array<std::string_view, family_count> family_names{
    "default", "operations", "open", "by_time", "expiry", "bodies", "history", "steps"};

// First byte of a value in `operations`.
inline constexpr char tag_record = 'r';
inline constexpr char tag_tombstone = 't';

using TimedKey = std::array<char, 40>;  // big-endian milliseconds, operation key: sorts by time
TimedKey timed_key(Instant at, const OperationKey& key);
std::optional<ListPlace> parse_timed_key(std::string_view bytes);

using FinalFacts = std::array<char, 14>;  // status, flags, provider tag, updated
FinalFacts final_facts(const RecordFacts& facts);
// `created` comes from the key. Version, epoch and step are not in it.
std::optional<RecordFacts> parse_final_facts(Instant created, std::string_view bytes);

std::string body_key(const OperationKey& key, BodyPart part);
std::string history_key(const OperationKey& key, std::uint64_t first_sequence);
std::optional<OperationKey> parse_operation_key(std::string_view bytes);  // exactly 32 bytes

std::string owned_step_key(const OperationKey& owner, std::string_view step_key);

std::string fact_key(std::string_view fact);
std::optional<std::string_view> parse_fact_key(std::string_view bytes);

std::string scope_key(std::string_view tenant, std::string_view scope);
std::optional<std::pair<std::string, std::string>> parse_scope_key(std::string_view bytes);

template <std::size_t n>
std::string_view view_of(const std::array<char, n>& bytes) {
    return {bytes.data(), bytes.size()};
}

void append_big_endian(std::string& out, std::uint64_t value);
std::uint64_t read_big_endian(std::string_view bytes);  // the first 8

}  // namespace opid
