#pragma once
// From a request of a guarded rule to what the engine takes: whose operation it is, and its intent. Pure.
#include <optional>
#include <string>
#include <string_view>

#include "adapters/http/routing.hpp"
#include "engine/guarded_write.hpp"

namespace opid {

// How the request names its operation.
struct RequestIdentity {
    std::optional<OperationId> id;
    bool native_key = false;
    std::optional<StepReference> step;  // beside an operation ID both must name one operation; a native key gives way
    bool body_undecided = false;        // nothing in the head, but the body may name it
};

// `body`: nothing while it isn't read. Error (invalid): answered with 400 operation-id-invalid.
Result<RequestIdentity> find_identity(const Rule& rule, const http::FieldList& fields, std::string_view target,
                                      std::optional<std::string_view> body);

struct ForwardedFields {
    std::string_view via;                              // pseudonym; empty: none
    std::string_view forwarded_for;                    // reverse mode
    const ProviderCredentials* credentials = nullptr;  // put in where `inject` is set
};
// The fields that travel on, as lines.
std::string forwarded_fields(const http::RequestHead& head, const ForwardedFields& options);

Intent make_intent(const http::RequestHead& head, const Route& route, const Rule& rule, std::string_view body);

// What the caller itself sent where the provider's key belongs.
std::vector<std::string> caller_keys(const Rule& rule, const http::FieldList& fields, const Intent& intent);

// Operation-Wait in seconds; nothing when absent or no number.
std::optional<Millis> requested_wait(const http::FieldList& fields);

// The content of a body: itself, or decoded into `room`. Error (invalid): its coding can't be undone within
// `bytes_max`; the text says why.
Result<std::string_view> content_of(const http::FieldList& fields, std::string_view body, std::size_t bytes_max,
                                    std::string& room);

// Whether a trailer carries something that the profile reads or that identifies the request.
bool reads_a_trailer(const Rule& rule, const http::FieldList& trailers);

}  // namespace opid
