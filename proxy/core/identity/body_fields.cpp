#include "core/identity/body_fields.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/identity/normalisers.hpp"

namespace opid {
namespace {

bool matches(const JsonPattern& pattern, const BodyField& field) {
    if (pattern.matches(field.path)) return true;
    return field.path.size() > 1 && pattern.size() == 1 && pattern.matches_at(0, field.name) && pattern.text() != "/*";
}

bool any_matches(const std::vector<JsonPattern>& patterns, const BodyField& field) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) { return matches(pattern, field); });
}

bool carries_key(const KeyCarrier& carrier, const BodyField& field) {
    if (carrier.kind == KeyCarrier::Kind::form) return carrier.name == field.name;
    return carrier.kind == KeyCarrier::Kind::body && carrier.pointer.segments() == field.path;
}

bool left_out(const IntentRules& rules, const BodyField& field) {
    for (const auto& pattern : rules.ignore) {
        if (pattern.covers(field.path) || matches(pattern, field)) return true;
    }
    return std::any_of(rules.key_carriers.begin(), rules.key_carriers.end(),
                       [&](const auto& carrier) { return carries_key(carrier, field); });
}

std::string currency_of(const MoneyRule& rule, const BodyField& amount, const std::vector<BodyField>& fields) {
    if (!rule.currency_code.empty()) return rule.currency_code;
    const JsonPointer wanted = rule.currency.bound_to(amount.path);
    for (const auto& field : fields) {
        if (field.path == wanted.segments()) return field.value;
    }
    return {};
}

std::string normalised(const BodyField& field, const IntentRules& rules, const std::vector<BodyField>& fields) {
    std::string value = field.value;
    if (any_matches(rules.trim, field)) value = trimmed(value);
    if (any_matches(rules.casefold, field)) value = ascii_folded(value);
    if (any_matches(rules.email, field)) value = normal_email(value).value_or(value);
    if (any_matches(rules.timestamp, field)) value = normal_timestamp(value).value_or(value);
    for (const auto& rule : rules.money) {
        if (!matches(rule.at, field)) continue;
        if (auto amount = normal_money(value, currency_of(rule, field, fields), true)) return *amount;
    }
    return value;
}

// The list that a field is an element of: "tags[]" for tags, tags[] and tags[0]. Empty where no set rule names it.
std::string set_name(const BodyField& field, const IntentRules& rules) {
    if (any_matches(rules.set, field)) return field.name + "[]";
    if (field.path.size() < 2 || !(field.path.back().empty() || array_index(field.path.back()))) return {};
    BodyField list;
    list.path.assign(field.path.begin(), field.path.end() - 1);
    list.name = field.name.substr(0, field.name.rfind('['));
    return any_matches(rules.set, list) ? list.name + "[]" : std::string();
}

void sort_sets(std::vector<BodyField>& fields, const IntentRules& rules) {
    std::map<std::string, std::vector<std::size_t>> sets;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (auto name = set_name(fields[i], rules); !name.empty()) sets[std::move(name)].push_back(i);
    }
    const auto order = [](const BodyField& a, const BodyField& b) {
        return std::tie(a.value, a.has_value, a.headers) < std::tie(b.value, b.has_value, b.headers);
    };
    for (const auto& [name, places] : sets) {
        std::vector<BodyField> elements;
        for (const std::size_t place : places) elements.push_back(std::move(fields[place]));
        std::sort(elements.begin(), elements.end(), order);
        for (std::size_t i = 0; i < places.size(); ++i) {
            elements[i].name = name;
            elements[i].path = field_path(name);
            fields[places[i]] = std::move(elements[i]);
        }
    }
}

}  // namespace

std::vector<std::string> field_path(std::string_view name) {
    const std::size_t bracket = name.find('[');
    if (bracket == std::string_view::npos || bracket == 0 || name.back() != ']') return {std::string(name)};
    std::vector<std::string> path{std::string(name.substr(0, bracket))};
    for (std::size_t at = bracket; at < name.size();) {
        const std::size_t end = name.find(']', at);
        if (name[at] != '[' || end == std::string_view::npos) return {std::string(name)};
        path.emplace_back(name.substr(at + 1, end - at - 1));
        at = end + 1;
    }
    return path;
}

std::string field_name(const JsonPointer& pointer) {
    std::string name;
    for (const auto& segment : pointer.segments()) {
        if (name.empty()) {
            name = segment;
        } else {
            name.append(1, '[').append(segment).push_back(']');
        }
    }
    return name;
}

std::string field_pointer(const BodyField& field) {
    std::string pointer;
    for (std::size_t i = 0; i < field.path.size(); ++i) {
        if (i > 0 && i + 1 == field.path.size() && field.path[i].empty()) break;
        append_pointer_segment(pointer, field.path[i]);
    }
    return pointer;
}

void apply_rules(std::vector<BodyField>& fields, const IntentRules& rules) {
    std::vector<BodyField> kept;
    for (const auto& field : fields) {
        if (left_out(rules, field)) continue;
        BodyField normal = field;
        if (field.is_text && field.has_value) normal.value = normalised(field, rules, fields);
        kept.push_back(std::move(normal));
    }
    if (!rules.set.empty()) sort_sets(kept, rules);
    fields = std::move(kept);
}

}  // namespace opid
