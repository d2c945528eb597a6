#pragma once
// Which requests a rule covers: method, path glob, query, header, body, GraphQL or JSON-RPC operation.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/http/fields.hpp"
#include "core/profile/path_glob.hpp"
#include "core/profile/predicate.hpp"

namespace opid {

class RequestReading;

// A request as rules see it. Views; target is raw bytes as received (origin form).
struct RequestView {
    std::string_view method;
    std::string_view target;
    const http::FieldList* fields = nullptr;
    std::string_view body;  // decoded where content-coded; empty when not read yet
};

struct GraphqlMatch {
    std::string operation;  // "query", "mutation", "subscription" or empty
    std::string field;      // first-level field name (not its alias) or empty
};
struct JsonRpcMatch {
    std::string method;  // "tools/call", or empty
    std::string name;    // params.name, or empty
};

// How a request is taken that can be read in two ways: a path that a server may normalise, a GraphQL document with
// several fields, a JSON-RPC batch. A rule that restricts covers it if one reading fits, a rule that frees (class
// read, allow-list) only if all do. So neither can be dodged by a second field or a %-escape.
enum class Ambiguity : unsigned char { any_reading, every_reading };

struct RequestMatcher {
    std::vector<std::string> methods;  // empty: any
    std::optional<PathGlob> path;
    std::vector<std::pair<std::string, Predicate>> query;   // decoded name; one of its values has to hold
    std::vector<std::pair<std::string, Predicate>> header;  // one of the lines has to hold
    std::vector<std::pair<std::string, Predicate>> body;    // JSON pointer; in a form body /a/b is the field a[b]
    std::optional<GraphqlMatch> graphql;
    std::optional<JsonRpcMatch> jsonrpc;

    bool matches(const RequestView& request, PathCaptures* captures,
                 Ambiguity ambiguity = Ambiguity::any_reading) const;
    // The same for several matchers over one request, whose body is then parsed once.
    bool matches(RequestReading& reading, PathCaptures* captures, Ambiguity ambiguity) const;
    // Method and path alone: false when no request with these can match.
    bool may_match(std::string_view method, std::string_view path, Ambiguity ambiguity) const;
    bool needs_body() const { return graphql || jsonrpc || !body.empty(); }
};

}  // namespace opid
