#include "adapters/settings/match_reader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/http/fields.hpp"
#include "core/identity/decimal.hpp"
#include "core/identity/json_pointer.hpp"
#include "core/identity/json_reader.hpp"

namespace opid {
namespace {

std::string json_text(const YamlNode& scalar) {
    if (scalar.is_null()) return "null";
    const std::string& text = scalar.text;
    const bool literal = text == "true" || text == "false" || Decimal::from_json_number(text).has_value();
    if (!scalar.quoted && literal) return text;
    std::string json;
    append_json_string(json, text);
    return json;
}

bool is_value(const YamlNode& node) { return node.is_scalar() || node.is_null(); }

std::optional<Predicate> read_one_of(const YamlNode& node, const std::string& path, FileReading& reading) {
    std::vector<std::string> values;
    for (const YamlNode& item : node.items) {
        if (is_value(item)) values.push_back(json_text(item));
    }
    if (!node.is_list() || values.empty() || values.size() != node.items.size()) {
        reading.problem(node, path, fmt::format("expected a list of values, found {}", found_text(node)));
        return std::nullopt;
    }
    return Predicate::one_of(std::move(values));
}

std::optional<Predicate> read_operator(const YamlNode& node, const std::string& path, FileReading& reading) {
    MapReader map(node, path, reading);
    std::optional<Predicate> predicate;
    if (const YamlNode* at = map.get("one_of")) predicate = read_one_of(*at, map.path_of("one_of"), reading);
    if (const YamlNode* at = map.get("equals")) {
        if (is_value(*at)) {
            predicate = Predicate::equals(json_text(*at));
        } else {
            map.problem("equals", fmt::format("expected a value, found {}", found_text(*at)));
        }
    }
    std::string expression;
    if (map.text("matches", expression)) {
        std::string error;
        predicate = Predicate::matching(expression, error);
        if (!predicate) map.problem("matches", fmt::format("not a regular expression: {}", error));
    }
    bool wanted = true;
    if (map.flag("present", wanted)) predicate = wanted ? Predicate::present() : Predicate::absent();
    if (map.flag("absent", wanted)) predicate = wanted ? Predicate::absent() : Predicate::present();
    map.finish();
    if (node.members.size() != 1) {
        reading.problem(node, path, "expected one of one_of, matches, equals, present, absent");
    }
    return predicate;
}

std::optional<Predicate> read_predicate(const YamlNode& node, const std::string& path, FileReading& reading) {
    if (node.is_map()) return read_operator(node, path, reading);
    if (node.is_list()) {
        reading.problem(node, path, "expected a value, found a list; for one of several write {one_of: [...]}");
        return std::nullopt;
    }
    if (!node.quoted && node.text == "present") return Predicate::present();
    if (!node.quoted && node.text == "absent") return Predicate::absent();
    return Predicate::equals(json_text(node));
}

std::vector<std::string> read_methods(const YamlNode& node, const std::string& path, FileReading& reading) {
    std::vector<std::string> methods = texts_of(node, path, reading, "a method or a list of them");
    for (const std::string& method : methods) {
        std::string upper = method;
        std::transform(upper.begin(), upper.end(), upper.begin(),
                       [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
        if (!http::is_token(method)) {
            reading.problem(node, path, fmt::format("'{}' is no method", method));
        } else if (upper != method) {
            reading.problem(node, path, fmt::format("'{}': methods are case-sensitive", method), upper);
        }
    }
    return methods;
}

GraphqlMatch read_graphql(const YamlNode& node, const std::string& path, FileReading& reading) {
    static constexpr Words<std::string_view, 3> operations{
        {{"query", "query"}, {"mutation", "mutation"}, {"subscription", "subscription"}}};
    GraphqlMatch match;
    MapReader map(node, path, reading);
    std::string_view operation;
    if (map.word("operation", operation, operations)) match.operation = operation;
    map.text("field", match.field);
    map.finish();
    return match;
}

JsonRpcMatch read_jsonrpc(const YamlNode& node, const std::string& path, FileReading& reading) {
    JsonRpcMatch match;
    MapReader map(node, path, reading);
    map.text("method", match.method);
    map.text("name", match.name);
    map.finish();
    return match;
}

}  // namespace

bool check_pointer(const YamlNode& at, const std::string& text, const std::string& path, FileReading& reading) {
    const auto pointer = JsonPointer::parse(text);
    if (pointer) return true;
    reading.problem(at, path, fmt::format("expected a JSON pointer such as /error/code, found '{}'", text));
    return false;
}

Conditions read_conditions(const YamlNode& node, const std::string& path, FileReading& reading, ConditionNames names) {
    Conditions conditions;
    MapReader map(node, path, reading);
    for (const auto& member : node.members) {
        const std::string& name = member.first.text;
        if (names == ConditionNames::pointers && !check_pointer(member.first, name, path, reading)) continue;
        auto predicate = read_predicate(*map.get(name), map.path_of(name), reading);
        if (predicate) conditions.emplace_back(name, std::move(*predicate));
    }
    if (node.is_map() && node.members.empty()) reading.problem(node, path, "is empty and would hold for everything");
    return conditions;
}

RequestMatcher read_match(const YamlNode& node, const std::string& path, FileReading& reading) {
    RequestMatcher match;
    MapReader map(node, path, reading);
    if (const YamlNode* at = map.get("method")) match.methods = read_methods(*at, map.path_of("method"), reading);
    std::string glob;
    if (map.text("path", glob)) {
        std::string error;
        match.path = PathGlob::parse(glob, error);
        if (!match.path) map.problem("path", error);
    }
    const auto conditions = [&](std::string_view key, ConditionNames names) {
        const YamlNode* at = map.get(key);
        return at == nullptr ? Conditions() : read_conditions(*at, map.path_of(key), reading, names);
    };
    match.query = conditions("query", ConditionNames::names);
    match.header = conditions("header", ConditionNames::names);
    match.body = conditions("body", ConditionNames::pointers);
    if (const YamlNode* at = map.get("graphql")) match.graphql = read_graphql(*at, map.path_of("graphql"), reading);
    if (const YamlNode* at = map.get("jsonrpc")) match.jsonrpc = read_jsonrpc(*at, map.path_of("jsonrpc"), reading);
    map.finish();
    if (node.is_null() || (node.is_map() && node.members.empty())) {
        reading.problem(node, path, "is empty and would match every request");
    }
    return match;
}

}  // namespace opid
