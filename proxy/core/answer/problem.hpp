#pragma once
// What opid says itself: RFC 9457 problem documents in the shapes that real SDKs understand.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/operation/operation.hpp"
#include "core/profile/profile.hpp"

namespace opid {

// Every slug has one status, one title and one place in the table of ARCHITECTURE.md.
enum class ProblemKind : std::uint8_t {
    operation_id_missing,
    operation_id_invalid,
    payload_mismatch,
    operation_in_progress,
    outcome_unknown,
    needs_review,
    not_sent,
    approval_required,
    approval_expired,
    approval_mismatch,
    approval_denied,
    provider_key_conflict,
    answer_not_kept,
    not_allowed,
    operation_expired,
    operation_cancelled,
    store_unavailable,
    overloaded,
    body_too_large,
    tenant_unauthenticated,
    tenant_unauthenticated_reverse,
    bad_request,
    unknown_provider,
    unreachable,
    upstream_invalid,
    loop,
    misdirected,
    request_timeout,
    target_too_long,
    expectation_failed,
    head_too_large,
    not_implemented,
    version,
};

struct ProblemTraits {
    std::string_view slug;
    int status;
    std::string_view title;
    bool final;                     // the same request again can't help: x-should-retry: false
    bool retry_after;               // a Retry-After belongs to it
    std::string_view proxy_status;  // error type of RFC 9209 section 2.3
};
const ProblemTraits& traits(ProblemKind kind);
std::optional<ProblemKind> problem_from_slug(std::string_view slug);

struct Problem {
    ProblemKind kind = ProblemKind::bad_request;
    std::string detail;  // plain words that tell an agent what to do, retry advice first
    std::string title;   // empty: that of its kind
    std::string operation_id;
    std::string operation_attempt;  // an attempt ID, where the answer is about one
    std::optional<OperationStatus> operation_status;
    std::optional<Millis> retry_after;
    std::vector<std::string> differences;
    std::vector<std::pair<std::string, std::string>> members;  // further members: name, raw JSON text
    std::optional<int> status_override;                        // 504 in place of 502 for time-outs, for example
};

// A complete answer, apart from framing, Date and Connection.
struct Answer {
    int status = 200;
    std::string reason;
    StoredFields fields;                      // as they go out; no hop-by-hop, no Content-Length
    std::shared_ptr<const std::string> body;  // never null
};

// The request's JSON-RPC id as raw JSON text, for the jsonrpc dialect; empty: null.
Answer render(const Problem& problem, ProblemDialect dialect, std::string_view jsonrpc_id);

}  // namespace opid
