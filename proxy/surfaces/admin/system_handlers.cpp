// Health, metrics, events, reload, store.
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "surfaces/admin/admin_api.hpp"
#include "surfaces/admin/admin_fields.hpp"
#include "surfaces/admin/embedded.hpp"
#include "surfaces/admin/operation_json.hpp"

namespace opid {
namespace {

AdminReply plain_reply(int status, std::string body) {
    AdminReply reply;
    reply.status = status;
    reply.media_type = "text/plain; charset=utf-8";
    reply.body = std::move(body);
    return reply;
}

std::string json_list(const std::vector<std::string>& texts) {
    std::string json = "[";
    for (const std::string& text : texts) json += (json.size() > 1 ? "," : "") + json_text(text);
    return json + "]";
}

AdminReply authority_reply(const AuthorityView& authority) {
    return json_reply(fmt::format(
        "{{\"subject\":{},\"fingerprint\":{},\"not_before\":{},\"not_after\":{},\"pem\":{}}}",
        json_text(authority.subject), json_text(authority.fingerprint), json_text(format_instant(authority.not_before)),
        json_text(format_instant(authority.not_after)), json_text(authority.pem)));
}

}  // namespace

Task<AdminReply> AdminApi::health(const Call&) { co_return plain_reply(200, "ok\n"); }

Task<AdminReply> AdminApi::ready(const Call&) {
    const Readiness readiness = parts_.host.readiness();
    if (readiness.ready) co_return plain_reply(200, "ready\n");
    co_return plain_reply(503, readiness.reason + "\n");
}

Task<AdminReply> AdminApi::metrics(const Call&) {
    AdminReply reply = plain_reply(200, parts_.host.metrics_text());
    reply.media_type = "text/plain; version=0.0.4; charset=utf-8";
    co_return reply;
}

Task<AdminReply> AdminApi::index(const Call&) {
    AdminReply reply = plain_reply(200, std::string(index_html()));
    reply.media_type = "text/html; charset=utf-8";
    reply.fields.emplace_back("Content-Security-Policy",
                              "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                              "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    co_return reply;
}

Task<AdminReply> AdminApi::openapi(const Call&) { co_return json_reply(std::string(openapi_json())); }

Task<AdminReply> AdminApi::status(const Call&) {
    const StoreHealth health = parts_.store.health();
    const Readiness readiness = parts_.host.readiness();
    co_return json_reply(fmt::format(
        "{{\"version\":{},\"ready\":{},\"reason\":{},\"open_operations\":{},\"in_flight\":{},\"providers\":{},"
        "\"store\":{{\"writable\":{},\"latched\":{},\"reason\":{},\"commits\":{},\"syncs\":{},\"free_bytes\":{}}}}}",
        json_text(parts_.host.version()), readiness.ready, json_text(readiness.reason), health.open_operations,
        parts_.engine.in_flight(), parts_.profiles.current()->all().size(), health.writable, health.latched,
        json_text(health.reason), health.commits, health.syncs, health.free_bytes));
}

Task<AdminReply> AdminApi::events(const Call& call) {
    AdminReply reply;
    reply.media_type = "text/event-stream";
    std::uint64_t after = parts_.events.watch();
    const std::string& last = call.request.last_event_id;
    std::uint64_t seen = 0;
    const auto [end, error] = std::from_chars(last.data(), last.data() + last.size(), seen);
    const bool known = !last.empty() && error == std::errc() && end == last.data() + last.size() && seen <= after;
    if (known) after = seen;
    reply.events_after = after;
    co_return reply;
}

Task<AdminReply> AdminApi::reload(const Call& call) {
    const ReloadReport report = parts_.host.reload_policies(call.actor);
    if (!report.changed) {
        co_return problem_reply(422, "policies-invalid", "The policies have problems; nothing changed",
                                report.problems.empty() ? "" : report.problems.front(),
                                {{"problems", json_list(report.problems)}});
    }
    co_return json_reply(fmt::format("{{\"profiles\":{}}}", report.profiles));
}

Task<AdminReply> AdminApi::sweep(const Call&) {
    const Result<SweepResult> result = co_await parts_.host.sweep();
    if (!result) co_return error_reply(result.error());
    co_return json_reply(fmt::format("{{\"retired\":{},\"forgotten\":{}}}", result->retired, result->forgotten));
}

Task<AdminReply> AdminApi::show_authority(const Call&) { co_return authority_reply(parts_.host.authority()); }

Task<AdminReply> AdminApi::rotate_authority(const Call& call) {
    const Result<AuthorityView> made = parts_.host.rotate_authority(call.actor);
    if (!made) co_return error_reply(made.error());
    co_return authority_reply(*made);
}

Task<AdminReply> AdminApi::backup(const Call& call) {
    static constexpr std::array<std::string_view, 1> known{"folder"};
    const Result<AdminFields> fields = AdminFields::parse(call.request.body, known);
    if (!fields) co_return problem_reply(400, "invalid", "The body is not usable", fields.error().what());
    Result<std::string> folder = fields->needed_text("folder", 4096);
    if (!folder) co_return problem_reply(400, "invalid", "The body is not usable", folder.error().what());
    if (folder->front() != '/')
        co_return problem_reply(400, "invalid", "The body is not usable",
                                "'folder' has to be an absolute path on opid's machine.");
    const Result<std::string> told = co_await parts_.host.backup(std::move(*folder));
    if (!told) co_return error_reply(told.error());
    co_return json_reply("{\"result\":" + json_text(*told) + "}");
}

}  // namespace opid
