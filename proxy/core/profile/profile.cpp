#include "core/profile/profile.hpp"

#include <algorithm>

#include "base/encoding.hpp"
#include "core/profile/profile_set.hpp"

namespace opid {

bool IdentitySource::is_operation_id() const {
    return kind == Kind::header && equal_ignoring_case(name, "Operation-Id");
}

bool KeyRule::fits(std::string_view caller_key) const {
    if (caller_key.size() < min_length || caller_key.size() > max_length) return false;
    return std::all_of(caller_key.begin(), caller_key.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

std::string KeyRule::placement() const {
    if (!present()) return {};
    return to_text(carrier) + (quoted ? " quoted" : "");
}

std::string KeyRule::wire_key(std::string_view key) const {
    if (!quoted) return std::string(key);
    std::string wire = "\"";
    for (const char c : key) {
        if (c == '"' || c == '\\') wire += '\\';
        wire += c;
    }
    wire += '"';
    return wire;
}

bool Profile::covers(std::string_view host, std::uint16_t port) const {
    return std::any_of(hosts.begin(), hosts.end(), [&](const std::string& text) {
        const HostPattern pattern = split_host_pattern(text);
        if (pattern.port != 0 && pattern.port != port) return false;
        if (!pattern.wildcard) return pattern.host == host;
        return host.size() > pattern.host.size() + 1 && host.ends_with(pattern.host) &&
               host[host.size() - pattern.host.size() - 1] == '.';
    });
}

std::string_view to_word(MissingIdentity missing) {
    switch (missing) {
        case MissingIdentity::reject: return "reject";
        case MissingIdentity::pass: return "pass";
        case MissingIdentity::observe: return "observe";
    }
    return "?";
}

std::string_view to_word(KeySource source) {
    switch (source) {
        case KeySource::derived: return "derived";
        case KeySource::caller: return "caller";
    }
    return "?";
}

std::string_view to_word(KeyWindow::Bound bound) {
    switch (bound) {
        case KeyWindow::Bound::exactly: return "exactly";
        case KeyWindow::Bound::at_least: return "at_least";
        case KeyWindow::Bound::forever: return "forever";
        case KeyWindow::Bound::while_object_exists: return "while_object_exists";
        case KeyWindow::Bound::while_open: return "while_open";
        case KeyWindow::Bound::client_chosen: return "client_chosen";
        case KeyWindow::Bound::unpublished: return "unpublished";
    }
    return "?";
}

std::string_view to_word(RequestClass request_class) {
    switch (request_class) {
        case RequestClass::read: return "read";
        case RequestClass::write: return "write";
    }
    return "?";
}

std::string_view to_word(ProblemDialect dialect) {
    switch (dialect) {
        case ProblemDialect::problem: return "problem";
        case ProblemDialect::slack: return "slack";
        case ProblemDialect::graphql: return "graphql";
        case ProblemDialect::jsonrpc: return "jsonrpc";
    }
    return "?";
}

}  // namespace opid
