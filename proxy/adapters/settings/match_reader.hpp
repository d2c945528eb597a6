#pragma once
// Conditions on requests and answers, as profiles write them.
#include <string>
#include <utility>
#include <vector>

#include "adapters/settings/map_reader.hpp"
#include "core/profile/request_matcher.hpp"

namespace opid {

using Conditions = std::vector<std::pair<std::string, Predicate>>;
enum class ConditionNames : unsigned char { pointers, names };

// {name: value | present | absent | {one_of: […]} | {matches: EXPRESSION} | {equals: value}, …}. A value has the type
// that it has in JSON: true, 402 and null are no strings unless they stand in quotes.
Conditions read_conditions(const YamlNode& node, const std::string& path, FileReading& reading, ConditionNames names);

// {method, path, query, header, body, graphql, jsonrpc}; what is not given does not matter.
RequestMatcher read_match(const YamlNode& node, const std::string& path, FileReading& reading);

// A JSON pointer; a problem where it is none.
bool check_pointer(const YamlNode& at, const std::string& text, const std::string& path, FileReading& reading);

}  // namespace opid
