#pragma once
// Bytes of a record, for the store. The schema is record.proto: fields are added, never renumbered or reused;
// readers skip what they don't know. tests/golden/record_v1 holds frozen examples.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "core/operation/operation.hpp"

namespace opid {

inline constexpr std::uint32_t record_format = 1;

// Bodies of external payloads are left out. One of more than inline_body_bytes_max is marked as external and left out
// as well: its bytes go beside the record.
std::string encode_operation(const Operation& operation, std::size_t inline_body_bytes_max = ~std::size_t{0});
Result<Operation> decode_operation(std::string_view bytes);  // invalid: says which field; never throws

std::string encode_tombstone(const Tombstone& tombstone);  // at most 64 bytes
Result<Tombstone> decode_tombstone(std::string_view bytes);

std::string encode_history(const std::vector<HistoryEvent>& events);
Result<std::vector<HistoryEvent>> decode_history(std::string_view bytes);

}  // namespace opid
