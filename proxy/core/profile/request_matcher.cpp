#include "core/profile/request_matcher.hpp"

#include <algorithm>

#include "core/profile/request_reading.hpp"

namespace opid {
namespace {

bool path_matches(const PathGlob& glob, std::string_view path, const std::optional<std::string>& other,
                  PathCaptures* captures, Ambiguity ambiguity) {
    const bool raw = glob.matches(path, captures);
    if (!other) return raw;
    if (ambiguity == Ambiguity::every_reading) return raw && glob.matches(*other, nullptr);
    return raw || glob.matches(*other, captures);
}

// any or all of a list that is not empty.
template <class List, class Fits>
bool fits_batch(const List& list, Ambiguity ambiguity, Fits fits) {
    if (list.empty()) return false;
    return ambiguity == Ambiguity::any_reading ? std::any_of(list.begin(), list.end(), fits)
                                               : std::all_of(list.begin(), list.end(), fits);
}

bool graphql_matches(const GraphqlMatch& match, const GraphqlOperation& operation, Ambiguity ambiguity) {
    if (!match.operation.empty() && match.operation != operation.type) return false;
    if (match.field.empty()) return true;
    // What could not be read counts against the request on both sides.
    if (!operation.complete) return ambiguity == Ambiguity::any_reading;
    return fits_batch(operation.fields, ambiguity, [&](const std::string& field) { return field == match.field; });
}

bool jsonrpc_matches(const JsonRpcMatch& match, const JsonRpcCall& call) {
    return (match.method.empty() || match.method == call.method) && (match.name.empty() || match.name == call.name);
}

bool body_matches(const std::string& pointer_text, const Predicate& predicate, BodyReading& body) {
    const auto pointer = JsonPointer::parse(pointer_text);
    if (!pointer || !body.readable()) return false;
    const auto value = body.value(*pointer);
    if (!value) return predicate.holds_json(std::nullopt);
    return value->is_json ? predicate.holds_json(value->text) : predicate.holds_text(value->text);
}

}  // namespace

bool RequestMatcher::matches(const RequestView& request, PathCaptures* captures, Ambiguity ambiguity) const {
    RequestReading reading(request);
    return matches(reading, captures, ambiguity);
}

bool RequestMatcher::may_match(std::string_view method, std::string_view at_path, Ambiguity ambiguity) const {
    if (!methods.empty() && std::find(methods.begin(), methods.end(), method) == methods.end()) return false;
    return !path || path_matches(*path, at_path, other_reading_of(at_path), nullptr, ambiguity);
}

bool RequestMatcher::matches(RequestReading& reading, PathCaptures* captures, Ambiguity ambiguity) const {
    const RequestView& request = reading.request();
    if (!methods.empty() && std::find(methods.begin(), methods.end(), request.method) == methods.end()) return false;
    if (path && !path_matches(*path, reading.path(), reading.other_path(), captures, ambiguity)) return false;
    // Which of several values the provider goes by is not known.
    const auto holds = [ambiguity](const Predicate& predicate, const std::vector<std::string_view>& values) {
        if (values.empty()) return predicate.holds_text(std::nullopt);
        return fits_batch(values, ambiguity, [&](std::string_view text) { return predicate.holds_text(text); });
    };
    for (const auto& [name, predicate] : query) {
        if (!holds(predicate, reading.query_values(name))) return false;
    }
    for (const auto& [name, predicate] : header) {
        const auto values = request.fields != nullptr ? request.fields->values(name) : std::vector<std::string_view>();
        if (!holds(predicate, values)) return false;
    }
    for (const auto& [pointer, predicate] : body) {
        if (!body_matches(pointer, predicate, reading.body())) return false;
    }
    if (graphql && !fits_batch(reading.graphql(), ambiguity, [&](const GraphqlOperation& operation) {
            return graphql_matches(*graphql, operation, ambiguity);
        })) {
        return false;
    }
    return !jsonrpc || fits_batch(reading.jsonrpc(), ambiguity,
                                  [&](const JsonRpcCall& call) { return jsonrpc_matches(*jsonrpc, call); });
}

}  // namespace opid
