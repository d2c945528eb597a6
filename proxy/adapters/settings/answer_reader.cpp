#include "adapters/settings/answer_reader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "adapters/settings/match_reader.hpp"
#include "adapters/settings/nearest_word.hpp"
#include "core/http/fields.hpp"
#include "core/profile/text_template.hpp"

namespace opid {
namespace {

constexpr Millis day{86400000};

std::optional<Backoff> parse_backoff(std::string_view text) {
    const std::size_t dots = text.find("..");
    const auto first = parse_duration(text.substr(0, dots));
    if (!first || first->count() == 0) return std::nullopt;
    if (dots == std::string_view::npos) return Backoff{*first, *first};
    const auto most = parse_duration(text.substr(dots + 2));
    if (!most || *most < *first || *most > 30 * day) return std::nullopt;
    return Backoff{*first, *most};
}

std::uint32_t attempts_of(MapReader& map, std::uint32_t otherwise) {
    std::uint64_t attempts = otherwise;
    map.count("attempts", attempts, 1, 30);
    return static_cast<std::uint32_t>(attempts);
}

KeyedRetryStep read_keyed_retry(MapReader& map) {
    KeyedRetryStep step;
    step.attempts = attempts_of(map, step.attempts);
    std::string text;
    if (map.text("backoff", text)) {
        const auto backoff = parse_backoff(text);
        if (backoff) step.backoff = *backoff;
        if (!backoff) map.problem("backoff", fmt::format("expected durations such as 1s..60s, found '{}'", text));
    }
    return step;
}

class LookUpReader {
public:
    LookUpReader(MapReader& map, Ladder& ladder) : map_(map), ladder_(ladder) {}

    LookUpStep read() {
        LookUpStep step;
        LookUpTemplate look_up;
        step.attempts = attempts_of(map_, step.attempts);
        map_.flag("consistent", step.consistent);
        map_.duration("settle", step.settle, Millis{0}, 30 * day);
        if (map_.require("get") != nullptr && map_.text("get", look_up.get)) {
            if (look_up.get.front() != '/')
                map_.problem("get", "has to begin with '/': it is a path at the same upstream");
            if (look_up.get.find_first_of(" #") != std::string::npos) map_.problem("get", "has a blank or a '#' in it");
            check_template(*map_.get("get"), map_.path_of("get"));
        }
        if (const YamlNode* items = map_.get("items")) {
            if (items->is_scalar() && check_pointer(*items, items->text, map_.path_of("items"), map_.reading())) {
                look_up.items = items->text;
            } else if (!items->is_scalar()) {
                map_.problem("items", fmt::format("expected a JSON pointer, found {}", found_text(*items)));
            }
        }
        where(look_up);
        static constexpr Words<LookUpTemplate::Result, 2> results{
            {{"item", LookUpTemplate::Result::item}, {"body", LookUpTemplate::Result::body}}};
        map_.word("result", look_up.result, results);
        if (!placeholder_)
            map_.problem("get", "nothing in this look-up names the operation, so it can't find its effect");
        if (ladder_.look_up) map_.problem("get", "a ladder has one look-up");
        ladder_.look_up = std::move(look_up);
        return step;
    }

private:
    void where(LookUpTemplate& look_up) {
        const YamlNode* node = map_.get("where");
        if (node == nullptr) return;
        MapReader conditions(*node, map_.path_of("where"), map_.reading());
        for (const auto& member : node->members) {
            const std::string& pointer = member.first.text;
            std::string text;
            conditions.text(pointer, text);
            if (!check_pointer(member.first, pointer, conditions.path(), map_.reading()) || text.empty()) continue;
            check_template(member.second, conditions.path_of(pointer));
            look_up.where.emplace_back(pointer, text);
        }
    }

    void check_template(const YamlNode& at, const std::string& path) {
        const auto parsed = TextTemplate::parse(at.text);
        if (!parsed) {
            map_.reading().problem(at, path, parsed.error().what());
            placeholder_ = true;  // said enough
            return;
        }
        placeholder_ = placeholder_ || parsed->has_placeholder();
        for (std::string& name : parsed->captures()) ladder_.captures.push_back(std::move(name));
    }

    MapReader& map_;
    Ladder& ladder_;
    bool placeholder_ = false;
};

void read_step(const YamlNode& item, const std::string& path, FileReading& reading, Ladder& ladder) {
    if (!item.is_map() || item.members.size() != 1) {
        reading.problem(item, path, "expected one step: keyed_retry, look_up or review");
        return;
    }
    const YamlNode& word = item.members.front().first;
    const YamlNode& value = item.members.front().second;
    MapReader map(value, path + "." + word.text, reading);
    if (word.text == "keyed_retry") {
        ladder.steps.emplace_back(read_keyed_retry(map));
    } else if (word.text == "look_up") {
        ladder.steps.emplace_back(LookUpReader(map, ladder).read());
    } else if (word.text == "review") {
        ladder.steps.emplace_back(ReviewStep{});
    } else {
        reading.problem(word, path, fmt::format("expected keyed_retry, look_up or review, found {}", found_text(word)),
                        nearest_word(word.text, {"keyed_retry", "look_up", "review"}));
        return;
    }
    map.finish();
}

}  // namespace

StatusSet read_statuses(const YamlNode& node, const std::string& path, FileReading& reading) {
    const std::vector<std::string> words = texts_of(node, path, reading, "a status or a list of them");
    for (const std::string& word : words) {
        if (StatusSet::parse({word})) continue;
        reading.problem(node, path, fmt::format("expected statuses such as 409, 5xx or 500-504, found '{}'", word));
        return {};
    }
    return *StatusSet::parse(words);
}

AnswerMatcher read_answer(MapReader& map) {
    AnswerMatcher answer;
    if (const YamlNode* at = map.get("status"))
        answer.statuses = read_statuses(*at, map.path_of("status"), map.reading());
    if (const YamlNode* at = map.get("body")) {
        answer.body = read_conditions(*at, map.path_of("body"), map.reading(), ConditionNames::pointers);
    }
    if (const YamlNode* at = map.get("header")) {
        answer.header = read_conditions(*at, map.path_of("header"), map.reading(), ConditionNames::names);
    }
    return answer;
}

std::optional<ReferenceSource> read_reference(const YamlNode& node, const std::string& path, FileReading& reading) {
    const std::string_view text = node.is_scalar() ? std::string_view(node.text) : std::string_view();
    ReferenceSource source;
    if (text.substr(0, 7) == "header:" && http::is_token(text.substr(7))) {
        source.kind = ReferenceSource::Kind::header;
        source.name = text.substr(7);
        return source;
    }
    source.name = text.substr(0, 5) == "body:" ? text.substr(5) : text;
    if (!source.name.empty() && JsonPointer::parse(source.name)) return source;
    reading.problem(node, path, fmt::format("expected header:NAME or body:/pointer, found {}", found_text(node)));
    return std::nullopt;
}

std::vector<VerdictRule> read_verdicts(const YamlNode& node, const std::string& path, FileReading& reading) {
    static constexpr Words<Verdict, 8> words{{{"succeeded", Verdict::succeeded},
                                              {"failed", Verdict::failed},
                                              {"not_executed", Verdict::not_executed},
                                              {"unknown", Verdict::unknown},
                                              {"in_flight", Verdict::in_flight},
                                              {"mismatch", Verdict::mismatch},
                                              {"duplicate", Verdict::duplicate},
                                              {"replayed", Verdict::replayed}}};
    std::vector<VerdictRule> rules;
    if (!node.is_list() && !node.is_null()) {
        reading.problem(node, path, fmt::format("expected a list of verdicts, found {}", found_text(node)));
    }
    for (std::size_t i = 0; i < node.items.size(); ++i) {
        MapReader map(node.items[i], item_path(path, i), reading);
        VerdictRule rule;
        rule.answer = read_answer(map);
        if (map.require("verdict") != nullptr) map.word("verdict", rule.verdict, words);
        if (const YamlNode* at = map.get("object")) {
            if (at->is_scalar() && check_pointer(*at, at->text, map.path_of("object"), reading)) rule.object = at->text;
        }
        if (const YamlNode* at = map.get("reference"))
            rule.reference = read_reference(*at, map.path_of("reference"), reading);
        map.finish();
        if (!rule.answer.statuses && rule.answer.body.empty() && rule.answer.header.empty()) {
            reading.problem(node.items[i], map.path(),
                            "has no condition (status, body or header) and would hold for every answer");
        }
        rules.push_back(std::move(rule));
    }
    return rules;
}

Ladder read_ladder(const YamlNode& node, const std::string& path, FileReading& reading) {
    Ladder ladder;
    if (!node.is_list() && !node.is_null()) {
        reading.problem(node, path, fmt::format("expected a list of steps, found {}", found_text(node)));
    }
    for (std::size_t i = 0; i < node.items.size(); ++i) {
        const bool ended = !ladder.steps.empty() && std::holds_alternative<ReviewStep>(ladder.steps.back());
        if (ended) reading.problem(node.items[i], item_path(path, i), "stands behind review, which ends the ladder");
        read_step(node.items[i], item_path(path, i), reading, ladder);
    }
    return ladder;
}

}  // namespace opid
