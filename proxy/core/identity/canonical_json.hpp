#pragma once
// The canonical text of a JSON document under rules.
#include <string>

#include "core/identity/intent_rules.hpp"
#include "core/identity/json_reader.hpp"

namespace opid {

// `document` names no member twice. `form` is json, jsonrpc or graphql. Never fails.
std::string canonical_json(const JsonDocument& document, const IntentRules& rules, BodyForm form);

// An object with "jsonrpc": "2.0" and a method, or a batch of such objects.
bool looks_like_jsonrpc(const JsonDocument& document);

}  // namespace opid
