#include <algorithm>

#include "core/profile/profile.hpp"
#include "core/profile/request_reading.hpp"

namespace opid {
namespace {

bool is_safe_method(std::string_view method) {
    return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "TRACE";
}

// A rule of class read frees a request from being guarded, so every reading has to fit.
Ambiguity ambiguity_of(const Rule& rule) {
    return rule.request_class == RequestClass::read ? Ambiguity::every_reading : Ambiguity::any_reading;
}

bool has_other_conditions(const RequestMatcher& matcher) { return !matcher.query.empty() || !matcher.header.empty(); }

}  // namespace

MatchedRule match_rule(const Profile& profile, const RequestView& request) {
    RequestReading reading(request);
    MatchedRule matched;
    for (const Rule& rule : profile.rules) {
        matched.captures.clear();
        if (!rule.match.matches(reading, &matched.captures, ambiguity_of(rule))) continue;
        matched.rule = &rule;
        matched.request_class = rule.request_class;
        break;
    }
    if (matched.rule == nullptr) {
        matched.captures.clear();
        matched.rule = &profile.default_rule;
        matched.request_class = is_safe_method(request.method) ? RequestClass::read : RequestClass::write;
    }
    if (matched.request_class == RequestClass::write && !profile.allow.empty()) {
        matched.allowed = std::any_of(profile.allow.begin(), profile.allow.end(), [&](const RequestMatcher& allowed) {
            return allowed.matches(reading, nullptr, Ambiguity::every_reading);
        });
    }
    return matched;
}

bool matching_needs_body(const Profile& profile, std::string_view method, std::string_view path) {
    RequestClass request_class = is_safe_method(method) ? RequestClass::read : RequestClass::write;
    for (const Rule& rule : profile.rules) {
        if (!rule.match.may_match(method, path, ambiguity_of(rule))) continue;
        if (rule.match.needs_body()) return true;
        if (has_other_conditions(rule.match)) {
            // It may match or not; a write further down may then ask for the allow-list.
            if (rule.request_class == RequestClass::write) request_class = RequestClass::write;
            continue;
        }
        request_class = rule.request_class;
        break;
    }
    if (request_class == RequestClass::read) return false;
    return std::any_of(profile.allow.begin(), profile.allow.end(), [&](const RequestMatcher& allowed) {
        return allowed.needs_body() && allowed.may_match(method, path, Ambiguity::every_reading);
    });
}

}  // namespace opid
