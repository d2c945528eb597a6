#pragma once
// From a bound write to the request that leaves: provider key, mark, fields. Pure.
#include <string>

#include "base/result.hpp"
#include "core/operation/operation.hpp"
#include "engine/guarded_write.hpp"

namespace opid {

// The key that this operation carries at the provider: the recorded one while there is one or while there is doubt
// (then even none stays none), else the caller's own
// (key.source: caller, where one came and fits), else one derived for the present generation. Empty: no key here.
std::string provider_key_for(const GuardedWrite& write, const Operation& operation);

// body_storage holds a rewritten body; the request views it or the caller's own bytes, so both must outlive it.
// invalid: the key or the mark can't be placed in this request; nothing may be sent.
Result<OutboundRequest> outbound_request(const GuardedWrite& write, std::string_view provider_key,
                                         std::string& body_storage);

// `write` with the payload that was recorded for the operation, where another spelling of it came with the retry: a
// provider that compares payloads under one key has to see the first one again. Credentials are the retry's.
GuardedWrite as_recorded(const GuardedWrite& write, const Operation& operation, std::string_view request_body);

// "Name: value\r\n" lines without those of one name, ignoring case.
std::string without_field(std::string_view lines, std::string_view name);

}  // namespace opid
