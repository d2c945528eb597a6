#pragma once
// JSON-RPC answers carry the id of the request that they answer. A replay answers another request, so it takes that id.
#include <string>
#include <string_view>

namespace opid {

// The raw JSON text of the request's id; empty when the body is no JSON-RPC request with an id.
std::string read_jsonrpc_id(std::string_view request_body);

// The answer with `id` (raw JSON) in place of its own, in a JSON body or in every event of an event stream that holds
// a response. A body that is neither stays as it is.
std::string with_jsonrpc_id(std::string_view media_type, std::string_view body, std::string_view id);

}  // namespace opid
