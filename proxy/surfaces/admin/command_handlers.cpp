// What a person does about operations: allocate, approve, deny, resolve, cancel, recover.
#include <array>

#include "base/encoding.hpp"
#include "core/answer/replay_fields.hpp"
#include "core/http/fields.hpp"
#include "core/identity/operation_id.hpp"
#include "surfaces/admin/admin_api.hpp"
#include "surfaces/admin/admin_fields.hpp"

namespace opid {
namespace {

constexpr std::size_t reason_bytes_max = 1024;
constexpr std::size_t operation_id_bytes = 16;

AdminReply bad_body(const Error& error) {
    return problem_reply(400, "invalid", "The body is not usable", error.what());
}

std::optional<Resolution> resolution_from(std::string_view word) {
    if (word == "succeeded") return Resolution::succeeded;
    if (word == "failed") return Resolution::failed;
    if (word == "not_executed" || word == "not-executed") return Resolution::not_executed;
    if (word == "cancelled") return Resolution::cancelled;
    return std::nullopt;
}

Result<StoredFields> headers_from(const JsonValue& object) {
    if (!object.is(JsonKind::object)) return Error(ErrorKind::invalid, "'response.headers' has to be an object");
    StoredFields received;
    for (auto value = object.first(); value; value = value->next()) {
        if (!value->is(JsonKind::string) || !http::is_token(value->name()) || !http::is_field_value(value->string())) {
            return Error(ErrorKind::invalid, "'response.headers' has a name or value that no header can carry");
        }
        received.emplace_back(value->name(), value->string());
    }
    return fields_to_keep(received);
}

// {"status": 201, "headers": {…}, "body": "text" or any JSON}
Result<RecordedResponse> response_from(const std::string& text) {
    const Result<JsonDocument> document = read_json(text);
    if (!document || !document->root().is(JsonKind::object)) {
        return Error(ErrorKind::invalid, "'response' has to be an object with status, headers and body");
    }
    RecordedResponse response;
    response.status = 200;
    response.body.kept = true;
    for (auto value = document->root().first(); value; value = value->next()) {
        const std::string name = value->name();
        if (name == "status") {
            const std::string raw(value->raw());
            const bool fits = value->is(JsonKind::number) && raw.size() == 3 && raw[0] >= '2' && raw[0] <= '5' &&
                              raw.find_first_not_of("0123456789") == std::string::npos;
            if (!fits) return Error(ErrorKind::invalid, "'response.status' has to be a number from 200 to 599");
            response.status = std::stoi(raw);
        } else if (name == "headers") {
            Result<StoredFields> headers = headers_from(*value);
            if (!headers) return headers.error();
            response.headers = std::move(*headers);
        } else if (name == "body") {
            response.body.bytes = value->is(JsonKind::string) ? value->string() : std::string(value->raw());
        } else {
            return Error(ErrorKind::invalid, "'response' knows the members status, headers and body");
        }
    }
    response.body.size = response.body.bytes.size();
    response.body.digest = sha256(response.body.bytes);
    return response;
}

Result<Resolved> resolved_from(const AdminFields& fields, const std::string& actor) {
    Resolved resolved;
    resolved.actor = actor;
    Result<std::string> as = fields.needed_text("as");
    if (!as) return as.error();
    const auto resolution = resolution_from(*as);
    if (!resolution) {
        return Error(ErrorKind::invalid, "'as' has to be succeeded, failed, not_executed or cancelled");
    }
    resolved.as = *resolution;
    Result<std::string> reason = fields.needed_text("reason", reason_bytes_max);
    if (!reason) return reason.error();
    resolved.reason = std::move(*reason);
    Result<std::optional<std::string>> reference = fields.text("provider_ref");
    if (!reference) return reference.error();
    resolved.provider_ref = reference->value_or("");
    if (const auto raw = fields.raw("response")) {
        Result<RecordedResponse> response = response_from(*raw);
        if (!response) return response.error();
        resolved.response = std::move(*response);
    }
    return resolved;
}

}  // namespace

Task<AdminReply> AdminApi::create_operation(const Call& call) {
    static constexpr std::array<std::string_view, 9> known{"tenant",  "step", "provider",     "method", "url",
                                                           "headers", "body", "operation_id", "rule"};
    const Result<AdminFields> fields = AdminFields::parse(call.request.body, known);
    if (!fields) co_return bad_body(fields.error());
    const Result<std::optional<std::string>> step = fields->text("step", operation_id_chars_max);
    if (!step) co_return bad_body(step.error());
    if (!*step) {
        co_return problem_reply(501, "not-implemented", "Registering an intent ahead is not available",
                                "Send {\"step\": \"run-81/step-4\"} to get the operation ID of a step; an intent is "
                                "recorded by the first request that carries its operation ID.");
    }
    const Result<OperationId> checked = operation_id_from_text(**step);
    if (!checked)
        co_return problem_reply(400, "invalid", "The step is not usable",
                                "A step has 1 to 255 visible ASCII characters.");
    const Result<std::optional<std::string>> named = fields->text("tenant");
    if (!named) co_return bad_body(named.error());
    const std::string tenant = named->value_or(parts_.tenants.front());
    const bool known_tenant = std::find(parts_.tenants.begin(), parts_.tenants.end(), tenant) != parts_.tenants.end();
    if (!known_tenant || (!*named && parts_.tenants.size() > 1)) {
        co_return problem_reply(400, "invalid", "The tenant is not known", "'tenant' has to name a configured tenant.");
    }
    std::string proposed = "op_" + base32hex(parts_.entropy.bytes(operation_id_bytes));
    Result<std::string> id = co_await parts_.store.allocate_step(tenant, **step, std::move(proposed));
    if (!id) co_return error_reply(id.error());
    co_return json_reply("{\"operation_id\":" + json_text(*id) + ",\"tenant\":" + json_text(tenant) +
                         ",\"step\":" + json_text(**step) + "}");
}

Task<AdminReply> AdminApi::approve(const Call& call) {
    static constexpr std::array<std::string_view, 3> known{"digest", "expires_in", "scope"};
    const Result<AdminFields> fields = AdminFields::parse(call.request.body, known);
    if (!fields) co_return bad_body(fields.error());
    const Result<std::string> digest = fields->needed_text("digest");
    if (!digest) co_return bad_body(digest.error());
    const Result<Millis> expires_in = fields->needed_duration("expires_in");
    if (!expires_in) co_return bad_body(expires_in.error());
    const Result<std::optional<std::string>> scope = fields->text("scope");
    if (!scope) co_return bad_body(scope.error());
    AdminReply refusal;
    const std::optional<Operation> operation = co_await find_one(call, refusal);
    if (!operation) co_return refusal;
    if (ascii_lower(*digest) != to_hex(operation->digest)) {
        co_return problem_reply(409, "approval-mismatch", "The digest is another one",
                                "Look at the operation again: its canonical digest is not the one that was approved.");
    }
    Approved approved;
    approved.approval.approver = call.actor;
    approved.approval.digest_hex = to_hex(operation->digest);
    approved.approval.scope = scope->value_or("");
    approved.approval.granted = parts_.timers.now();
    approved.approval.expires = approved.approval.granted + *expires_in;
    AdminReply reply = co_await apply(operation->key, std::move(approved), call.actor);
    co_return reply;
}

// Denial and cancellation: a reason, and the operation is given up.
template <typename GivenUp>
Task<AdminReply> AdminApi::give_up(const Call& call) {
    static constexpr std::array<std::string_view, 1> known{"reason"};
    const Result<AdminFields> fields = AdminFields::parse(call.request.body, known);
    if (!fields) co_return bad_body(fields.error());
    const Result<std::string> reason = fields->needed_text("reason", reason_bytes_max);
    if (!reason) co_return bad_body(reason.error());
    AdminReply refusal;
    const std::optional<Operation> operation = co_await find_one(call, refusal);
    if (!operation) co_return refusal;
    GivenUp event;
    event.actor = call.actor;
    event.reason = *reason;
    AdminReply reply = co_await apply(operation->key, std::move(event), call.actor);
    co_return reply;
}

Task<AdminReply> AdminApi::deny(const Call& call) { return give_up<Denied>(call); }

Task<AdminReply> AdminApi::cancel(const Call& call) { return give_up<Cancelled>(call); }

Task<AdminReply> AdminApi::resolve(const Call& call) {
    static constexpr std::array<std::string_view, 4> known{"as", "reason", "provider_ref", "response"};
    const Result<AdminFields> fields = AdminFields::parse(call.request.body, known);
    if (!fields) co_return bad_body(fields.error());
    Result<Resolved> resolved = resolved_from(*fields, call.actor);
    if (!resolved) co_return bad_body(resolved.error());
    AdminReply refusal;
    const std::optional<Operation> operation = co_await find_one(call, refusal);
    if (!operation) co_return refusal;
    AdminReply reply = co_await apply(operation->key, std::move(*resolved), call.actor);
    co_return reply;
}

Task<AdminReply> AdminApi::recover(const Call& call) {
    AdminReply refusal;
    const std::optional<Operation> operation = co_await find_one(call, refusal);
    if (!operation) co_return refusal;
    if (!parts_.recover) {
        co_return problem_reply(
            501, "not-implemented", "opid does not run this ladder by itself",
            "Retry the same request with the SAME operation ID: the ladder runs inside it. Or settle "
            "the operation by hand with a resolution.");
    }
    Result<Operation> moved = co_await parts_.recover(operation->key, call.actor);
    if (!moved) co_return error_reply(moved.error());
    AdminReply shown = co_await show_operation(call);
    co_return shown;
}

}  // namespace opid
