#include "core/identity/differences.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/identity/content_decoding.hpp"
#include "core/identity/form_fields.hpp"
#include "core/identity/multipart_parts.hpp"
#include "core/identity/target_form.hpp"
#include "core/identity/utf8.hpp"

namespace opid {
namespace {

constexpr std::size_t name_bytes_shown_max = 128;

class DifferenceList {
public:
    bool full() const { return cut_; }
    void add(std::string entry) {
        if (std::find(entries_.begin(), entries_.end(), entry) != entries_.end()) return;
        if (entries_.size() < differences_max) {
            entries_.push_back(std::move(entry));
        } else {
            cut_ = true;
        }
    }
    std::vector<std::string> take() {
        if (cut_) entries_.emplace_back(more_differences);
        return std::move(entries_);
    }

private:
    std::vector<std::string> entries_;
    bool cut_ = false;
};

// A member name is the caller's text: kept short, and cut between characters.
std::string shown(std::string_view name) {
    if (name.size() <= name_bytes_shown_max) return std::string(name);
    std::size_t end = name_bytes_shown_max;
    while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
    return std::string(name.substr(0, end)) + more_differences.data();
}

// Walks over two canonical JSON texts side by side: members are sorted in both, equal values have equal text.
class JsonComparison {
public:
    JsonComparison(const IntentRules& rules, DifferenceList& list) : rules_(rules), list_(list) {}

    void compare(JsonValue a, JsonValue b) {
        if (list_.full() || a.raw() == b.raw()) return;
        if (a.is(JsonKind::object) && b.is(JsonKind::object)) {
            compare_objects(a, b);
        } else if (a.is(JsonKind::array) && b.is(JsonKind::array) && !is_set()) {
            compare_arrays(a, b);
        } else {
            note();
        }
    }

private:
    bool is_set() const {
        return std::any_of(rules_.set.begin(), rules_.set.end(), [&](const auto& rule) { return rule.matches(path_); });
    }

    void note() {
        std::string pointer;
        for (const auto& segment : path_) append_pointer_segment(pointer, shown(segment));
        list_.add(pointer.empty() ? "body" : std::move(pointer));
    }
    void note_below(std::string segment) {
        path_.push_back(std::move(segment));
        note();
        path_.pop_back();
    }

    void compare_objects(JsonValue a, JsonValue b) {
        auto left = a.first();
        auto right = b.first();
        while ((left || right) && !list_.full()) {
            const std::string left_name = left ? left->name() : std::string();
            const std::string right_name = right ? right->name() : std::string();
            if (left && right && left_name == right_name) {
                path_.push_back(left_name);
                compare(*left, *right);
                path_.pop_back();
                left = left->next();
                right = right->next();
            } else if (!right || (left && utf16_less(left_name, right_name))) {
                note_below(left_name);
                left = left->next();
            } else {
                note_below(right_name);
                right = right->next();
            }
        }
    }

    void compare_arrays(JsonValue a, JsonValue b) {
        auto left = a.first();
        auto right = b.first();
        for (std::size_t index = 0; (left || right) && !list_.full(); ++index) {
            path_.push_back(std::to_string(index));
            if (left && right) {
                compare(*left, *right);
            } else {
                note();
            }
            path_.pop_back();
            if (left) left = left->next();
            if (right) right = right->next();
        }
    }

    const IntentRules& rules_;
    DifferenceList& list_;
    std::vector<std::string> path_;
};

void compare_json(const CanonicalBody& a, const CanonicalBody& b, const IntentRules& rules, DifferenceList& list) {
    const auto first = read_json(a.bytes);
    const auto second = read_json(b.bytes);
    if (!first || !second) return list.add("body");  // all of it is ignored in one of the two
    JsonComparison(rules, list).compare(first->root(), second->root());
}

using FieldsByName = std::map<std::string, std::string>;  // pointer -> the encoding of all fields of that name

std::optional<std::vector<BodyField>> fields_of(const Intent& intent, BodyForm form, const IntentRules& rules,
                                                IntentLimits limits) {
    std::string decoded;
    std::string_view body = intent.body;
    if (!is_identity_coding(intent.content_coding)) {
        decoded = decode_content(intent.content_coding, intent.body, limits.decoded_body).bytes;
        body = decoded;
    }
    auto fields = form == BodyForm::form ? form_fields(body) : multipart_fields(intent.media_type, body);
    if (!fields) return fields;
    apply_rules(*fields, rules);
    if (form == BodyForm::form) {  // the order across names has no meaning there
        std::stable_sort(fields->begin(), fields->end(),
                         [](const BodyField& a, const BodyField& b) { return a.name < b.name; });
    }
    return fields;
}

FieldsByName by_name(const std::vector<BodyField>& fields, BodyForm form) {
    FieldsByName named;
    for (const auto& field : fields) {
        BodyField short_name = field;
        for (auto& segment : short_name.path) segment = shown(segment);
        named[field_pointer(short_name)] += form == BodyForm::form ? encode_form_field(field) : encode_part(field);
    }
    return named;
}

void compare_fields(const Intent& a, const Intent& b, BodyForm form, const IntentRules& rules, IntentLimits limits,
                    DifferenceList& list) {
    const auto first = fields_of(a, form, rules, limits);
    const auto second = fields_of(b, form, rules, limits);
    if (!first || !second) return list.add("body");
    const FieldsByName left = by_name(*first, form);
    const FieldsByName right = by_name(*second, form);
    bool some = false;
    const auto note = [&](const std::string& pointer) {
        some = true;
        list.add(pointer == "/" ? "body" : pointer);
    };
    for (const auto& [pointer, encoded] : left) {
        const auto other = right.find(pointer);
        if (other == right.end() || other->second != encoded) note(pointer);
    }
    for (const auto& [pointer, encoded] : right) {
        if (left.count(pointer) == 0) note(pointer);
    }
    if (!some) list.add("body");  // only the order of the parts differs
}

std::map<std::string, std::vector<std::string>> headers_of(const Intent& intent, const IntentRules& rules) {
    std::map<std::string, std::vector<std::string>> headers;
    for (auto& [name, value] : select_headers(intent.headers, rules)) headers[name].push_back(value);
    return headers;
}

void compare_headers(const Intent& a, const Intent& b, const IntentRules& rules, DifferenceList& list) {
    auto first = headers_of(a, rules);
    auto second = headers_of(b, rules);
    std::set<std::string> names;
    for (const auto& [name, values] : first) names.insert(name);
    for (const auto& [name, values] : second) names.insert(name);
    for (const auto& name : names) {
        if (first[name] != second[name]) list.add("header:" + name);
    }
}

bool same_target(const Intent& a, const Intent& b, const IntentRules& rules) {
    return canonical_authority(a.scheme_authority) == canonical_authority(b.scheme_authority) &&
           canonical_path(a.path, rules) == canonical_path(b.path, rules) &&
           canonical_query(a.query, rules) == canonical_query(b.query, rules);
}

}  // namespace

std::vector<std::string> differences(const Intent& first, const Intent& second, const IntentRules& rules,
                                     IntentLimits limits) {
    DifferenceList list;
    if (first.method != second.method) list.add("method");
    if (!same_target(first, second, rules)) list.add("target");
    compare_headers(first, second, rules, list);
    const CanonicalContent a = canonical_content(first, rules, limits);
    const CanonicalContent b = canonical_content(second, rules, limits);
    if (canonical_media(first, a.body.form) != canonical_media(second, b.body.form)) list.add("header:content-type");
    if (a.coding != b.coding) list.add("header:content-encoding");
    if (a.body.form != b.body.form) {
        list.add("body");
    } else if (a.body.bytes != b.body.bytes) {
        switch (a.body.form) {
            case BodyForm::raw: list.add("body"); break;
            case BodyForm::json:
            case BodyForm::jsonrpc:
            case BodyForm::graphql: compare_json(a.body, b.body, rules, list); break;
            case BodyForm::form:
            case BodyForm::multipart: compare_fields(first, second, a.body.form, rules, limits, list); break;
        }
    }
    return list.take();
}

}  // namespace opid
