#include "adapters/http/local_answer.hpp"

#include <algorithm>

#include "base/encoding.hpp"
#include "core/http/hop_by_hop.hpp"

namespace opid {

namespace {

bool has(const StoredFields& fields, std::string_view name) {
    return std::any_of(fields.begin(), fields.end(),
                       [name](const auto& field) { return equal_ignoring_case(field.first, name); });
}

void add(std::string& out, std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
}

bool has_no_body(int status) { return status < 200 || status == 204 || status == 304; }

}  // namespace

void write_answer(const Answer& answer, const AnswerFraming& framing, std::string& out) {
    out += "HTTP/1.1 ";
    out += std::to_string(answer.status);
    out += ' ';
    out += answer.reason.empty() ? reason_of(answer.status) : std::string_view(answer.reason);
    out += "\r\n";
    for (const auto& [name, value] : answer.fields) {
        if (http::is_hop_by_hop(name) && !equal_ignoring_case(name, "proxy-authenticate")) continue;
        if (equal_ignoring_case(name, "content-length")) continue;
        add(out, name, value);
    }
    if (!has(answer.fields, "date")) add(out, "Date", framing.date);
    const std::size_t size = answer.body ? answer.body->size() : 0;
    if (!has_no_body(answer.status)) add(out, "Content-Length", std::to_string(size));
    if (!framing.via.empty() && !has(answer.fields, "opid-problem")) {
        add(out, "Via", std::string("1.1 ") + std::string(framing.via));
    }
    if (framing.close) {
        add(out, "Connection", "close");
    } else if (framing.http10) {
        add(out, "Connection", "keep-alive");
    }
    out += "\r\n";
    if (!framing.head_only && !has_no_body(answer.status) && size > 0) out += *answer.body;
}

Problem make_problem(ProblemKind kind, std::string detail) {
    Problem problem;
    problem.kind = kind;
    problem.detail = std::move(detail);
    return problem;
}

Problem problem_of(const http::Refusal& refusal) {
    const auto kind = problem_from_slug(refusal.slug);
    Problem problem = make_problem(kind.value_or(ProblemKind::bad_request), std::string(refusal.detail));
    if (traits(problem.kind).status != refusal.status) problem.status_override = refusal.status;
    return problem;
}

std::string_view reason_of(int status) {
    switch (status) {
        case 200: return "OK";
        case 201: return "Created";
        case 202: return "Accepted";
        case 204: return "No Content";
        case 303: return "See Other";
        case 304: return "Not Modified";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 407: return "Proxy Authentication Required";
        case 408: return "Request Timeout";
        case 409: return "Conflict";
        case 410: return "Gone";
        case 413: return "Content Too Large";
        case 414: return "URI Too Long";
        case 417: return "Expectation Failed";
        case 421: return "Misdirected Request";
        case 422: return "Unprocessable Content";
        case 423: return "Locked";
        case 429: return "Too Many Requests";
        case 431: return "Request Header Fields Too Large";
        case 500: return "Internal Server Error";
        case 501: return "Not Implemented";
        case 502: return "Bad Gateway";
        case 503: return "Service Unavailable";
        case 504: return "Gateway Timeout";
        case 505: return "HTTP Version Not Supported";
        case 508: return "Loop Detected";
        default: return "";
    }
}

}  // namespace opid
