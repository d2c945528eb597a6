#include "adapters/settings/rule_reader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "adapters/settings/key_reader.hpp"
#include "adapters/settings/match_reader.hpp"
#include "base/encoding.hpp"
#include "core/profile/recovery_plan.hpp"

namespace opid {
namespace {

enum class Approval : std::uint8_t { none, required };

// Neither the key nor the operation ID is part of what the caller wants done.
void exclude_names(Rule& rule) {
    if (rule.key.present()) rule.intent.key_carriers.push_back(rule.key.carrier);
    for (const IdentitySource& source : rule.identity.from) {
        switch (source.kind) {
            case IdentitySource::Kind::body:
                if (auto pointer = JsonPointer::parse(source.name)) {
                    rule.intent.ignore.push_back(JsonPattern::exactly(*pointer));
                }
                break;
            case IdentitySource::Kind::query: rule.intent.ignore_query.push_back(source.name); break;
            case IdentitySource::Kind::header:
                std::erase_if(rule.intent.headers,
                              [&](const std::string& name) { return equal_ignoring_case(name, source.name); });
                break;
        }
    }
}

void choose_body_form(Rule& rule) {
    if (rule.intent.body_form) return;
    if (rule.match.graphql) rule.intent.body_form = BodyForm::graphql;
    if (rule.match.jsonrpc) rule.intent.body_form = BodyForm::jsonrpc;
}

// form field a[b] is /a/b
std::string pointer_of_field(std::string_view field) {
    std::string pointer;
    std::string segment;
    const auto end = [&] {
        append_pointer_segment(pointer, segment);
        segment.clear();
    };
    for (const char c : field) {
        if (c == '[') {
            end();
        } else if (c != ']') {
            segment += c;
        }
    }
    end();
    return pointer;
}

class RuleReader {
public:
    RuleReader(MapReader& map, const RuleDefaults& defaults, Rule& rule)
        : map_(map),
          reading_(map.reading()),
          defaults_(defaults),
          rule_(rule) {}

    void read() {
        name();
        if (const YamlNode* at = map_.require("match")) rule_.match = read_match(*at, map_.path_of("match"), reading_);
        static constexpr Words<RequestClass, 2> classes{{{"read", RequestClass::read}, {"write", RequestClass::write}}};
        map_.word("class", rule_.request_class, classes);
        static constexpr Words<Approval, 2> approvals{{{"none", Approval::none}, {"required", Approval::required}}};
        Approval approval = Approval::none;
        map_.word("approval", approval, approvals);
        rule_.approval_required = approval == Approval::required;
        map_.flag("dry_run", rule_.dry_run);
        read_dialect(map_, rule_.problems);
        if (const YamlNode* at = map_.get("identity")) {
            read_identity(*at, map_.path_of("identity"), reading_, rule_.identity);
        }
        if (const YamlNode* at = map_.get("intent")) read_intent(*at, map_.path_of("intent"), reading_, rule_.intent);
        verdicts();
        if (const YamlNode* at = map_.get("reference")) {
            rule_.reference = read_reference(*at, map_.path_of("reference"), reading_);
        }
        mark();
        key();
        recovery();
        map_.finish();
        if (rule_.request_class == RequestClass::read && rule_.approval_required) {
            map_.problem("approval", "a rule of class read lets requests through; it can't ask for an approval");
        }
    }

private:
    void name() {
        if (!map_.text("name", rule_.name)) return;
        const bool plain = rule_.name.size() <= 100 && std::all_of(rule_.name.begin(), rule_.name.end(), [](char c) {
                               return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
                           });
        if (!plain) map_.problem("name", "a name has up to 100 printable characters");
        if (rule_.name == "default")
            map_.problem("name", "'default' is the rule for requests that no other one matches");
    }

    void verdicts() {
        const YamlNode* at = map_.get("verdicts");
        if (at == nullptr) return;
        auto own = read_verdicts(*at, map_.path_of("verdicts"), reading_);
        own.insert(own.end(), defaults_.verdicts.begin(), defaults_.verdicts.end());
        rule_.verdicts = std::move(own);
    }

    void mark() {
        const YamlNode* at = map_.get("mark");
        if (at == nullptr) return;
        MapReader mark(*at, map_.path_of("mark"), reading_);
        std::string place;
        if (mark.text("body", place) && check_pointer(*at, place, mark.path_of("body"), reading_)) rule_.mark = place;
        if (mark.text("form", place)) rule_.mark = pointer_of_field(place);
        mark.finish();
        if (at->members.size() > 1) map_.problem("mark", "has one place: body or form");
        if (!rule_.mark) map_.problem("mark", "expected {body: /pointer} or {form: name}");
    }

    void key() {
        const YamlNode* at = map_.get("key");
        if (at == nullptr) return;
        read_key_rule(*at, map_.path_of("key"), reading_, rule_.key);
        KeyCarrier& carrier = rule_.key.carrier;
        if (carrier.kind == KeyCarrier::Kind::path) {
            if (rule_.match.path && rule_.match.path->has_capture(carrier.name)) {
                carrier.path_glob = rule_.match.path->text();
            } else {
                map_.problem("key", fmt::format("match.path has no {{{}}} that could carry the key", carrier.name));
            }
        }
        check_key_rule(rule_.key, *at, map_.path_of("key"), reading_);
    }

    void recovery() {
        bool repeatable = false;
        map_.flag("repeatable", repeatable);
        std::optional<Ladder> ladder = defaults_.ladder;
        if (const YamlNode* at = map_.get("recovery")) {
            ladder = read_ladder(*at, map_.path_of("recovery"), reading_);
            const bool retries = std::any_of(ladder->steps.begin(), ladder->steps.end(), [](const LadderStep& step) {
                return std::holds_alternative<KeyedRetryStep>(step);
            });
            if (retries && !rule_.key.present() && !repeatable) {
                map_.problem("recovery", "keyed_retry needs a key that the provider honours here, or repeatable: true");
            }
        }
        apply_ladder(ladder, repeatable);
        for (const std::string& name : ladder ? ladder->captures : std::vector<std::string>()) {
            if (rule_.match.path && rule_.match.path->has_capture(name)) continue;
            map_.problem("recovery", fmt::format("the look-up uses {{path:{0}}}, but match.path has no {{{0}}}", name));
        }
    }

    void apply_ladder(const std::optional<Ladder>& ladder, bool repeatable) {
        std::optional<std::vector<LadderStep>> steps;
        if (ladder) {
            steps = ladder->steps;
            rule_.look_up = ladder->look_up;
        }
        rule_.recovery = make_recovery_plan(rule_.key, steps, repeatable, defaults_.verified);
    }

    MapReader& map_;
    FileReading& reading_;
    const RuleDefaults& defaults_;
    Rule& rule_;
};

Rule from_defaults(const RuleDefaults& defaults) {
    Rule rule;
    rule.identity = defaults.identity;
    rule.key = defaults.key;
    rule.intent = defaults.intent;
    rule.verdicts = defaults.verdicts;
    rule.reference = defaults.reference;
    rule.problems = defaults.problems;
    return rule;
}

}  // namespace

bool read_dialect(MapReader& map, ProblemDialect& out) {
    static constexpr Words<ProblemDialect, 4> dialects{{{"problem", ProblemDialect::problem},
                                                        {"slack", ProblemDialect::slack},
                                                        {"graphql", ProblemDialect::graphql},
                                                        {"jsonrpc", ProblemDialect::jsonrpc}}};
    return map.word("problems", out, dialects);
}

Rule make_default_rule(const RuleDefaults& defaults) {
    Rule rule = from_defaults(defaults);
    rule.name = "default";
    std::optional<std::vector<LadderStep>> steps;
    // A look-up that takes something from a path which is not known here is none.
    if (defaults.ladder && defaults.ladder->captures.empty()) {
        steps = defaults.ladder->steps;
        rule.look_up = defaults.ladder->look_up;
    }
    rule.recovery = make_recovery_plan(rule.key, steps, false, defaults.verified);
    exclude_names(rule);
    return rule;
}

Rule read_rule(const YamlNode& node, const std::string& path, FileReading& reading, const RuleDefaults& defaults) {
    Rule rule = from_defaults(defaults);
    MapReader map(node, path, reading);
    RuleReader(map, defaults, rule).read();
    choose_body_form(rule);
    exclude_names(rule);
    return rule;
}

}  // namespace opid
