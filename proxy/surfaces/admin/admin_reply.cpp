#include "surfaces/admin/admin_reply.hpp"

#include "core/identity/json_reader.hpp"

namespace opid {

AdminReply json_reply(std::string body, int status) {
    AdminReply reply;
    reply.status = status;
    reply.body = std::move(body);
    return reply;
}

std::string json_text(std::string_view text) {
    std::string out;
    if (is_utf8(text)) {
        append_json_string(out, text);
        return out;
    }
    std::string replaced;
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x80) {
            replaced += c;
        } else {
            replaced += "\xEF\xBF\xBD";
        }
    }
    append_json_string(out, replaced);
    return out;
}

AdminReply problem_reply(int status, std::string_view slug, std::string_view title, std::string_view detail,
                         const std::vector<std::pair<std::string, std::string>>& members) {
    AdminReply reply;
    reply.status = status;
    reply.media_type = "application/problem+json; charset=utf-8";
    reply.fields.emplace_back("Opid-Problem", std::string(slug));
    std::string& json = reply.body;
    json = "{\"type\":" + json_text("urn:opid:problem:" + std::string(slug));
    json += ",\"title\":" + json_text(title);
    json += ",\"status\":" + std::to_string(status);
    json += ",\"detail\":" + json_text(detail);
    for (const auto& [name, raw] : members) json += "," + json_text(name) + ":" + raw;
    json += ",\"error\":{\"type\":\"opid_error\",\"code\":" + json_text(slug) + ",\"message\":" + json_text(detail) +
            "}";
    json += ",\"message\":" + json_text(detail) + "}";
    return reply;
}

AdminReply error_reply(const Error& error) {
    switch (error.kind()) {
        case ErrorKind::invalid:
            return problem_reply(409, "wrong-status", "The status does not allow this", error.what());
        case ErrorKind::not_found: return problem_reply(404, "not-found", "No such operation", error.what());
        case ErrorKind::conflict: {
            AdminReply reply = problem_reply(409, "conflict", "Somebody else was first", error.what());
            reply.fields.emplace_back("Retry-After", "1");
            return reply;
        }
        case ErrorKind::overloaded:
        case ErrorKind::unavailable:
        case ErrorKind::indeterminate:
        case ErrorKind::timeout: {
            AdminReply reply = problem_reply(503, "store-unavailable", "The ledger can't be read or written",
                                             error.what());
            reply.fields.emplace_back("Retry-After", "1");
            return reply;
        }
        case ErrorKind::internal: break;
    }
    return problem_reply(500, "internal", "A fault of opid's own", error.what());
}

}  // namespace opid
