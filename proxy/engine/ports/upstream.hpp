#pragma once
// Sends one request of a guarded write to its provider, once. An implementation never resends, never follows a
// redirect, and takes a fresh or a just-verified connection, so that a stale one can't leave doubt behind.
#include <memory>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "core/operation/evidence.hpp"
#include "core/operation/operation.hpp"
#include "core/profile/profile.hpp"
#include "engine/task.hpp"

namespace opid {

// One request as it is to leave. Everything views or owns bytes that live until send() returns.
struct OutboundRequest {
    ProfilePtr profile;                 // where to (upstream scheme, authority, address, TLS) and with which trust
    std::string_view scheme_authority;  // "https://api.example.com" of the intent; empty: the profile's upstream
    std::string_view method;
    std::string target;  // path and query, raw bytes
    std::string fields;  // "Name: value\r\n" lines in order, without Host, Connection and framing, with the key
    std::string_view body;
    bool chunked = false;            // framing as the client chose it; else Content-Length (none for an empty body
    bool no_length = false;          // that came without one)
    Millis response_timeout{60000};  // from the last request byte to the whole answer's first byte, and between reads
    std::uint64_t body_max = 16ull << 20;  // answer bytes beyond this are counted and digested, not kept
};

struct InboundResponse {
    int status = 0;
    std::string reason;
    StoredFields fields;          // as received, without hop-by-hop fields
    std::string body;             // as received (content codings untouched), without transfer coding
    std::uint64_t body_size = 0;  // all bytes, kept or not
    Digest body_digest{};
    bool body_kept = true;  // false: more than body_max, body is empty
};

// How an attempt ended: with a whole answer, or without one; evidence.nothing_sent() tells the harmless case.
struct Exchange {
    Evidence evidence;
    bool answered = false;     // response holds the whole answer
    InboundResponse response;  // where cut: status and fields as far as they came
};

// Takes an answer while it arrives, for bodies that are streamed to the caller before they are stored. Calls come
// in order head, data…, end or abort, on the executor of the send. send() makes those up to the last data; end or
// abort is called by whoever called send(), once the outcome is durable. A sink never fails towards the upstream: a
// caller that left is the sink's own business.
class ResponseSink {
public:
    virtual ~ResponseSink() = default;
    // Whether this answer is to be streamed from now on. Asked when the whole head is there, and again while the
    // body grows: `length` is the announced length, or what came so far where that is more. Once true, head()
    // follows with everything that came, and it is not asked again.
    virtual bool wants(const InboundResponse& head, bool event_stream, std::uint64_t length) = 0;
    virtual Task<> head(const InboundResponse& head) = 0;
    virtual Task<> data(std::string_view bytes) = 0;
    virtual Task<> end() = 0;
    virtual Task<> abort() = 0;
};

// A read for the look-up step: its answer, bounded; never guarded.
struct LookUpRequest {
    ProfilePtr profile;
    std::string_view scheme_authority;  // as in OutboundRequest
    std::string target;
    std::string fields;  // credentials included
    Millis timeout{20000};
    std::uint64_t body_max = 4ull << 20;
};

class Upstream {
public:
    virtual ~Upstream() = default;
    virtual Task<Exchange> send(const OutboundRequest& request, ResponseSink* sink) = 0;
    virtual Task<Exchange> look_up(const LookUpRequest& request) = 0;
};

}  // namespace opid
