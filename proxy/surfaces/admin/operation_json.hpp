#pragma once
// Operations as the admin API shows them. Never a body, never a credential: the record holds none of the latter.
#include <string>
#include <vector>

#include "core/operation/operation.hpp"

namespace opid {

std::string format_instant(Instant at);  // RFC 3339 in UTC with milliseconds

std::string operation_json(const Operation& operation);
std::string history_json(const std::vector<HistoryEvent>& events);  // {"events":[…]}
// A line of lists and of the candidates where an ID is not unique.
std::string operation_summary_json(const Operation& operation);

}  // namespace opid
