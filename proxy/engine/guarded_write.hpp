#pragma once
// What the proxying surface hands to the engine for one guarded write, and what comes back.
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/answer/problem.hpp"
#include "core/identity/intent.hpp"
#include "core/identity/operation_id.hpp"
#include "core/profile/profile.hpp"
#include "engine/ports/upstream.hpp"

namespace opid {

struct GuardedWrite {
    std::string tenant;
    ProfilePtr profile;
    const Rule* rule = nullptr;  // owned by profile
    PathCaptures captures;
    OperationId id;
    bool native_key = false;  // the ID came from a native key: scoped by tenant and provider
    Intent intent;            // body included: the bytes as received
    std::string fields;  // forwardable request fields as "Name: value\r\n" lines, hop-by-hop and opid's own removed,
                         // without Host, Connection, framing, Expect
    std::vector<std::string> caller_keys;  // values at the key's carrier, for key.source: caller
    bool chunked = false;
    bool no_length = false;
    std::optional<Millis> wait;  // Operation-Wait
    std::string accept_encoding;
    bool accept_encoding_present = false;
    std::string jsonrpc_id;
};

// The answer for this caller. streamed: it went out through the sink already.
struct GuardedAnswer {
    Answer answer;
    bool streamed = false;
};

}  // namespace opid
