#pragma once
// Which fields travel on (RFC 9110 section 7.6.1), and the writers that put a forwarded head straight into the
// output buffer: kept fields in their order and case, framing written by us, Connection written by us.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/fields.hpp"
#include "core/http/framing.hpp"
#include "core/http/request_head.hpp"
#include "core/http/response_head.hpp"

namespace opid::http {

bool is_hop_by_hop(std::string_view name);       // never forwarded as received, listed in Connection or not
bool is_operation_field(std::string_view name);  // Operation-*, for opid itself and never for an origin
// Fields that a Connection option can't take away: they carry identity, routing, framing or content meaning.
bool is_protected(std::string_view name);
// Whether a field of a response says something beyond this hop.
bool is_for_the_client(const ResponseHead& head, std::string_view name);

struct RequestForwarding {
    std::string_view target;           // empty: origin form of the head's target
    std::string_view host;             // empty: Host as received, or the authority of an absolute target
    const Framing* framing = nullptr;  // null: as received
    std::string_view via = "opid";     // pseudonym; empty: no Via
    std::string_view forwarded_for;    // reverse mode: the peer, replaces X-Forwarded-For. Empty: untouched
    std::string_view upgrade;          // the accepted protocol offer, for example websocket; empty: none
    bool trailers = false;             // trailers are relayed back, so TE: trailers may go on
    bool close = false;                // Connection: close
    const FieldList* extra = nullptr;  // appended; they replace fields of the same name
    const std::vector<std::string_view>* drop = nullptr;     // names left out
    const std::vector<std::string_view>* protect = nullptr;  // further names that Connection can't take away
};

// Appends the request head to `out`, always as HTTP/1.1 with exactly one Host. Operation-*, Proxy-Authorization and
// everything hop-by-hop stays behind. `drop` and `extra` reach neither Host, Connection, nor the framing fields; an
// extra field that is no valid field (a line break in its value, say) is left out.
void write_request_head(const RequestHead& head, const RequestForwarding& options, std::string& out);

struct ResponseForwarding {
    Framing framing;                // of the body towards the client, see client_framing
    std::uint8_t client_minor = 1;  // HTTP version of the request that is answered
    bool close = false;             // the client connection ends after this answer
    std::string_view via = "opid";
    std::string_view upgrade;          // with 101: the protocol switched to
    const FieldList* extra = nullptr;  // appended; they replace fields of the same name
    const std::vector<std::string_view>* drop = nullptr;
};

// How the body goes on to a client of that HTTP version: chunked to 1.1 when its length is unknown, until close to
// 1.0, and as it is when coded.
Framing client_framing(const ResponseHead& head, std::uint8_t client_minor);

// Appends the response head to `out`: hop-by-hop fields and Opid-Problem stay behind. A head without body keeps the
// Content-Length that it describes (HEAD, 304) except in 1xx and 204.
void write_response_head(const ResponseHead& head, const ResponseForwarding& options, std::string& out);

// Whether a Via line names this pseudonym as a received-by (a loop).
bool passed_through(const FieldList& fields, std::string_view pseudonym);

}  // namespace opid::http
