#include "core/answer/problem.hpp"

#include <fmt/format.h>

#include <array>

#include "base/invariant.hpp"
#include "core/identity/json_reader.hpp"

namespace opid {
namespace {

// In the order of ProblemKind. The error types of RFC 9209 section 2.3 are registered words.
constexpr std::array<ProblemTraits, 33> table{{
    {"operation-id-missing", 400, "An operation ID is needed", false, false, "http_request_denied"},
    {"operation-id-invalid", 400, "The operation ID is not usable", false, false, "http_request_denied"},
    {"payload-mismatch", 422, "This operation ID names another request", true, false, "http_request_denied"},
    {"operation-in-progress", 409, "An attempt of this operation is running", false, true, "http_request_denied"},
    {"outcome-unknown", 504, "The outcome is not known yet", false, true, "http_response_timeout"},
    {"needs-review", 423, "Only a person can tell what happened", true, false, "http_request_denied"},
    {"not-sent", 502, "Nothing was sent", false, true, "destination_unavailable"},
    {"approval-required", 403, "This operation needs an approval", true, false, "http_request_denied"},
    {"approval-expired", 403, "The approval has expired", true, false, "http_request_denied"},
    {"approval-mismatch", 403, "The approval is for another request", true, false, "http_request_denied"},
    {"approval-denied", 403, "The approval was denied", true, false, "http_request_denied"},
    {"provider-key-conflict", 422, "This provider key names another operation", true, false, "http_request_denied"},
    {"answer-not-kept", 410, "The answer was too large to keep", true, false, "proxy_internal_response"},
    {"not-allowed", 403, "The provider profile does not allow this request", true, false, "http_request_denied"},
    {"operation-expired", 410, "This operation ID is used up", true, false, "http_request_denied"},
    {"operation-cancelled", 409, "This operation was cancelled", true, false, "http_request_denied"},
    {"store-unavailable", 503, "The ledger can't be written", false, true, "proxy_internal_error"},
    {"overloaded", 503, "A limit was reached", false, true, "connection_limit_reached"},
    {"body-too-large", 413, "The request body is too large to guard", true, false, "http_request_denied"},
    {"tenant-unauthenticated", 407, "The proxy needs to know who calls", false, false, "http_request_denied"},
    {"tenant-unauthenticated", 401, "The proxy needs to know who calls", false, false, "http_request_denied"},
    {"bad-request", 400, "The request is malformed", false, false, "http_request_error"},
    {"unknown-provider", 404, "No provider is known under this address", false, false, "destination_not_found"},
    {"unreachable", 502, "The destination can't be reached", false, false, "destination_unavailable"},
    {"upstream-invalid", 502, "The destination's answer is malformed", false, false, "http_protocol_error"},
    {"loop", 508, "The request has been here before", false, false, "proxy_loop_detected"},
    {"misdirected", 421, "The request names another host than its connection", false, false, "http_request_denied"},
    {"request-timeout", 408, "The request did not arrive in time", false, false, "http_request_error"},
    {"target-too-long", 414, "The request target is too long", false, false, "http_request_error"},
    {"expectation-failed", 417, "The expectation is not known", false, false, "http_request_error"},
    {"head-too-large", 431, "The request head is too large", false, false, "http_request_error"},
    {"not-implemented", 501, "The request asks for something that is not supported", false, false,
     "http_request_error"},
    {"version", 505, "The HTTP version is not supported", false, false, "http_request_error"},
}};

void member(std::string& json, std::string_view name, std::string_view text) {
    if (json.back() != '{') json += ',';
    append_json_string(json, name);
    json += ':';
    append_json_string(json, text);
}

void raw_member(std::string& json, std::string_view name, std::string_view raw) {
    if (json.back() != '{') json += ',';
    append_json_string(json, name);
    json += ':';
    json += raw;
}

std::string differences_json(const std::vector<std::string>& differences) {
    std::string json = "[";
    for (const std::string& difference : differences) {
        if (json.size() > 1) json += ',';
        append_json_string(json, difference);
    }
    return json + "]";
}

// The RFC 9457 members, and those that SDKs look for before they believe that a call failed.
std::string problem_members(const Problem& problem, const ProblemTraits& kind, int status) {
    std::string json = "{";
    member(json, "type", fmt::format("urn:opid:problem:{}", kind.slug));
    member(json, "title", problem.title.empty() ? kind.title : std::string_view(problem.title));
    raw_member(json, "status", std::to_string(status));
    member(json, "detail", problem.detail);
    if (!problem.operation_id.empty()) member(json, "operation_id", problem.operation_id);
    if (problem.operation_status) member(json, "operation_status", to_word(*problem.operation_status));
    if (!problem.differences.empty()) raw_member(json, "differences", differences_json(problem.differences));
    for (const auto& [name, raw] : problem.members) raw_member(json, name, raw);
    std::string error = "{";
    member(error, "type", "opid_error");
    member(error, "code", kind.slug);
    member(error, "message", problem.detail);
    raw_member(json, "error", error + "}");
    member(json, "message", problem.detail);
    member(json, "name", kind.slug);
    raw_member(json, "statusCode", std::to_string(status));
    return json + "}";
}

std::string render_body(const Problem& problem, const ProblemTraits& kind, int status, ProblemDialect dialect,
                        std::string_view jsonrpc_id) {
    const std::string members = problem_members(problem, kind, status);
    switch (dialect) {
        case ProblemDialect::problem: return members;
        case ProblemDialect::slack: {
            std::string json = "{\"ok\":false";
            member(json, "error", kind.slug);
            member(json, "detail", problem.detail);
            raw_member(json, "problem", members);
            return json + "}";
        }
        case ProblemDialect::graphql: {
            std::string error = "{";
            member(error, "message", problem.detail);
            std::string extensions = "{";
            member(extensions, "code", kind.slug);
            raw_member(extensions, "problem", members);
            raw_member(error, "extensions", extensions + "}");
            return "{\"data\":null,\"errors\":[" + error + "}]}";
        }
        case ProblemDialect::jsonrpc: {
            std::string error = "{\"code\":-32000";
            member(error, "message", problem.detail);
            raw_member(error, "data", members);
            const std::string_view id = jsonrpc_id.empty() ? std::string_view("null") : jsonrpc_id;
            return fmt::format("{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{}}}}}", id, error);
        }
    }
    return members;
}

}  // namespace

const ProblemTraits& traits(ProblemKind kind) {
    const auto index = static_cast<std::size_t>(kind);
    OPID_INVARIANT(index < table.size());
    return table[index];
}

std::optional<ProblemKind> problem_from_slug(std::string_view slug) {
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (table[i].slug == slug) return static_cast<ProblemKind>(i);
    }
    return std::nullopt;
}

Answer render(const Problem& problem, ProblemDialect dialect, std::string_view jsonrpc_id) {
    const ProblemTraits& kind = traits(problem.kind);
    const int status = problem.status_override.value_or(kind.status);
    const bool plain = dialect == ProblemDialect::problem;
    Answer answer;
    answer.status = plain ? status : 200;
    answer.fields = {
        {"Content-Type", plain ? "application/problem+json; charset=utf-8" : "application/json; charset=utf-8"},
        {"Cache-Control", "no-store"},
        {"Opid-Problem", std::string(kind.slug)},
        {"Proxy-Status", fmt::format("opid; error={}", kind.proxy_status)},
    };
    if (kind.final) {
        answer.fields.emplace_back("X-Should-Retry", "false");
        answer.fields.emplace_back("Stripe-Should-Retry", "false");
    }
    if (kind.retry_after || problem.retry_after) {
        const Millis wait = problem.retry_after.value_or(Millis{1000});
        const auto seconds = std::max<std::int64_t>(1, (wait.count() + 999) / 1000);
        answer.fields.emplace_back("Retry-After", std::to_string(seconds));
    }
    answer.body = std::make_shared<const std::string>(render_body(problem, kind, status, dialect, jsonrpc_id));
    return answer;
}

}  // namespace opid
