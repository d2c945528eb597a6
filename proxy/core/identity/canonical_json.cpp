#include "core/identity/canonical_json.hpp"

#include <algorithm>
#include <deque>

#include "core/identity/canonical_form.hpp"
#include "core/identity/decimal.hpp"
#include "core/identity/normalisers.hpp"
#include "core/identity/utf8.hpp"

namespace opid {
namespace {

enum class Action : std::uint8_t { ignore, omit_null, document, set, money, email, timestamp, trim, casefold };

// A pattern together with what happens where it ends.
struct Directive {
    JsonPattern pattern;
    Action action;
    const MoneyRule* money = nullptr;
};

using ActionSet = std::uint32_t;
constexpr ActionSet bit(Action action) { return ActionSet{1} << static_cast<unsigned>(action); }

class CanonicalWriter {
public:
    CanonicalWriter(const JsonDocument& document, const IntentRules& rules, BodyForm form)
        : root_(document.root()),
          keep_path_(!rules.money.empty()) {
        add(rules.ignore, Action::ignore);
        add(rules.set, Action::set);
        add(rules.email, Action::email);
        add(rules.timestamp, Action::timestamp);
        add(rules.trim, Action::trim);
        add(rules.casefold, Action::casefold);
        for (const auto& rule : rules.money) directives_.push_back(Directive{rule.at, Action::money, &rule});
        for (const auto& carrier : rules.key_carriers) {
            if (carrier.kind != KeyCarrier::Kind::body) continue;
            directives_.push_back(Directive{JsonPattern::exactly(carrier.pointer), Action::ignore, nullptr});
        }
        if (form == BodyForm::jsonrpc) {
            add_envelope("/id", Action::ignore);
            add_envelope("/params/_meta/progressToken", Action::ignore);
        } else if (form == BodyForm::graphql) {
            add_envelope("/query", Action::document);
            for (const char* at : {"/operationName", "/variables", "/extensions"}) add_envelope(at, Action::omit_null);
        }
        for (std::size_t i = 0; i < directives_.size(); ++i) live_.push_back(i);
        out_.reserve(document.text().size());
    }

    std::string run() {
        const Range all{0, live_.size()};
        const ActionSet actions = ended_at(all, 0);
        if ((actions & bit(Action::ignore)) == 0) write(root_, all, 0, actions);
        return std::move(out_);
    }

private:
    // Directives that still match the path to a value: a range of live_, which grows and shrinks as a stack.
    struct Range {
        std::size_t begin;
        std::size_t end;
    };
    struct Member {
        std::string_view name;
        JsonValue value;
    };

    void add(const std::vector<JsonPattern>& patterns, Action action) {
        for (const auto& pattern : patterns) directives_.push_back(Directive{pattern, action, nullptr});
    }
    // A member of the protocol's envelope, or of each envelope of a batch.
    void add_envelope(std::string_view pointer, Action action) {
        const auto pattern = JsonPattern::parse((root_.is(JsonKind::array) ? "/*" : "") + std::string(pointer));
        directives_.push_back(Directive{pattern.value(), action, nullptr});
    }

    Range enter(Range parent, std::size_t depth, std::string_view segment) {
        const std::size_t begin = live_.size();
        for (std::size_t i = parent.begin; i < parent.end; ++i) {
            const std::size_t index = live_[i];
            if (directives_[index].pattern.matches_at(depth, segment)) live_.push_back(index);
        }
        return Range{begin, live_.size()};
    }

    ActionSet ended_at(Range range, std::size_t depth) const {
        ActionSet actions = 0;
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const Directive& directive = directives_[live_[i]];
            if (directive.pattern.size() == depth) actions |= bit(directive.action);
        }
        return actions;
    }

    static bool leaves_out(ActionSet actions, JsonValue value) {
        if ((actions & bit(Action::ignore)) != 0) return true;
        return (actions & bit(Action::omit_null)) != 0 && value.is(JsonKind::null);
    }

    void write(JsonValue value, Range range, std::size_t depth, ActionSet actions) {
        switch (value.kind()) {
            case JsonKind::null:
            case JsonKind::boolean: out_ += value.raw(); return;
            case JsonKind::number: write_number(value, range, depth, actions); return;
            case JsonKind::string: write_string(value, range, depth, actions); return;
            case JsonKind::array: write_array(value, range, depth, (actions & bit(Action::set)) != 0); return;
            case JsonKind::object: write_object(value, range, depth); return;
        }
    }

    void write_object(JsonValue object, Range range, std::size_t depth) {
        const std::size_t first = members_.size();
        std::string scratch;
        for (auto child = object.first(); child; child = child->next()) {
            std::string_view name = child->name(scratch);
            if (name.data() == scratch.data()) name = decoded_names_.emplace_back(name);
            members_.push_back(Member{name, *child});
        }
        std::sort(members_.begin() + static_cast<std::ptrdiff_t>(first), members_.end(),
                  [](const Member& a, const Member& b) { return utf16_less(a.name, b.name); });
        const std::size_t last = members_.size();
        out_.push_back('{');
        bool some = false;
        for (std::size_t i = first; i < last; ++i) {
            const Member member = members_[i];  // the stack may move below
            const Range inner = enter(range, depth, member.name);
            const ActionSet actions = ended_at(inner, depth + 1);
            if (!leaves_out(actions, member.value)) {
                if (some) out_.push_back(',');
                some = true;
                append_json_string(out_, member.name);
                out_.push_back(':');
                if (keep_path_) path_.emplace_back(member.name);
                write(member.value, inner, depth + 1, actions);
                if (keep_path_) path_.pop_back();
            }
            live_.resize(inner.begin);
        }
        out_.push_back('}');
        members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(first), members_.end());
    }

    void write_array(JsonValue array, Range range, std::size_t depth, bool is_set) {
        std::vector<std::string> elements;  // of a set only
        out_.push_back('[');
        const std::size_t begin = out_.size();
        std::size_t index = 0;
        for (auto child = array.first(); child; child = child->next(), ++index) {
            const std::size_t element_begin = out_.size();
            const bool watched = range.begin != range.end || keep_path_;
            const std::string segment = watched ? std::to_string(index) : std::string();
            const Range inner = enter(range, depth, segment);
            const ActionSet actions = ended_at(inner, depth + 1);
            if (!leaves_out(actions, *child)) {
                if (!is_set && element_begin != begin) out_.push_back(',');
                if (keep_path_) path_.push_back(segment);
                write(*child, inner, depth + 1, actions);
                if (keep_path_) path_.pop_back();
                if (is_set) {
                    elements.push_back(out_.substr(element_begin));
                    out_.resize(element_begin);
                }
            }
            live_.resize(inner.begin);
        }
        std::sort(elements.begin(), elements.end());
        for (const auto& element : elements) {
            if (out_.size() != begin) out_.push_back(',');
            out_ += element;
        }
        out_.push_back(']');
    }

    void write_number(JsonValue value, Range range, std::size_t depth, ActionSet actions) {
        if ((actions & bit(Action::money)) != 0) {
            const auto number = Decimal::from_json_number(value.raw());
            // Only a count of minor units has a meaning here; 10.5 as a number stays the number 10.5.
            if (number && number->is_integer() && write_money(number->canonical(), range, depth, true)) return;
        }
        append_canonical_number(out_, value.raw());
    }

    void write_string(JsonValue value, Range range, std::size_t depth, ActionSet actions) {
        std::string scratch;
        std::string_view text = value.string(scratch);
        if (actions == 0) {
            append_json_string(out_, text);
            return;
        }
        if ((actions & bit(Action::document)) != 0) {
            append_json_string(out_, normal_graphql_document(text));
            return;
        }
        std::string normal(text);
        if ((actions & bit(Action::trim)) != 0) normal = std::string(trimmed(normal));
        if ((actions & bit(Action::casefold)) != 0) normal = ascii_folded(normal);
        if ((actions & bit(Action::email)) != 0) normal = normal_email(normal).value_or(normal);
        if ((actions & bit(Action::timestamp)) != 0) normal = normal_timestamp(normal).value_or(normal);
        if ((actions & bit(Action::money)) != 0 && write_money(normal, range, depth, false)) return;
        append_json_string(out_, normal);
    }

    // Writes the amount in major units as a string, which a second pass reads as the same amount.
    bool write_money(std::string_view amount, Range range, std::size_t depth, bool minor_units) {
        for (std::size_t i = range.begin; i < range.end; ++i) {
            const Directive& directive = directives_[live_[i]];
            if (directive.action != Action::money || directive.pattern.size() != depth) continue;
            const auto major = normal_money(amount, currency_of(*directive.money), minor_units);
            if (!major) continue;
            append_json_string(out_, *major);
            return true;
        }
        return false;
    }

    std::string currency_of(const MoneyRule& rule) const {
        if (!rule.currency_code.empty()) return rule.currency_code;
        const auto code = rule.currency.bound_to(path_).resolve(root_);
        return code && code->is(JsonKind::string) ? code->string() : std::string();
    }

    JsonValue root_;
    bool keep_path_;
    std::vector<Directive> directives_;
    std::vector<std::size_t> live_;
    std::vector<Member> members_;
    std::deque<std::string> decoded_names_;
    std::vector<std::string> path_;
    std::string out_;
};

bool is_envelope(JsonValue value) {
    const auto version = value.member("jsonrpc");
    const auto method = value.member("method");
    return version && method && version->raw() == "\"2.0\"" && method->is(JsonKind::string);
}

}  // namespace

std::string canonical_json(const JsonDocument& document, const IntentRules& rules, BodyForm form) {
    return CanonicalWriter(document, rules, form).run();
}

bool looks_like_jsonrpc(const JsonDocument& document) {
    const JsonValue root = document.root();
    if (!root.is(JsonKind::array)) return is_envelope(root);
    for (auto child = root.first(); child; child = child->next()) {
        if (!is_envelope(*child)) return false;
    }
    return root.first().has_value();
}

}  // namespace opid
