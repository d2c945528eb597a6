// The profiles in policies/ load, and mean what policies.golden.txt shows. OPID_GOLDEN=rewrite writes it anew.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "adapters/settings/match_reader.hpp"
#include "loading.hpp"

using namespace opid;

namespace {

std::string dump(const Conditions& conditions) {
    std::string text;
    for (const auto& [name, predicate] : conditions) text += fmt::format(" {}={}", name, predicate.text());
    return text;
}

std::string dump(const RequestMatcher& match) {
    std::string text = fmt::format("{}", fmt::join(match.methods, "|"));
    if (match.path) text += " " + match.path->text();
    if (match.graphql) text += fmt::format(" graphql:{}/{}", match.graphql->operation, match.graphql->field);
    if (match.jsonrpc) text += fmt::format(" jsonrpc:{}/{}", match.jsonrpc->method, match.jsonrpc->name);
    return text + dump(match.query) + dump(match.header) + dump(match.body);
}

std::string dump(const KeyRule& key) {
    if (!key.present()) return "none";
    return fmt::format("{} {}/{}{} {} window {} {} margin {} stores {}", to_text(key.carrier),
                       to_text(key.encoding.alphabet()), key.encoding.length(), key.quoted ? " quoted" : "",
                       to_word(key.source), format_duration(key.window.length), to_word(key.window.bound),
                       format_duration(key.window.margin), key.stores.text());
}

struct StepText {
    std::string operator()(const KeyedRetryStep& step) const {
        return fmt::format("keyed_retry({} {}..{})", step.attempts, format_duration(step.backoff.first),
                           format_duration(step.backoff.most));
    }
    std::string operator()(const LookUpStep& step) const {
        return fmt::format("look_up({} settle {}{})", step.attempts, format_duration(step.settle),
                           step.consistent ? " consistent" : "");
    }
    std::string operator()(const ReviewStep&) const { return "review"; }
};

std::string dump(const Rule& rule) {
    std::string text = fmt::format("  rule {}: {} {}\n    key {}\n", rule.name, to_word(rule.request_class),
                                   dump(rule.match), dump(rule.key));
    for (const VerdictRule& verdict : rule.verdicts) {
        text += fmt::format("    {}{}{} -> {}\n", verdict.answer.statuses ? verdict.answer.statuses->text() : "any",
                            dump(verdict.answer.header), dump(verdict.answer.body), to_word(verdict.verdict));
    }
    text += "    ladder";
    for (const LadderStep& step : rule.recovery.steps) text += " " + std::visit(StepText{}, step);
    if (rule.recovery.key_window) text += " within " + format_duration(*rule.recovery.key_window);
    text += rule.recovery.cautious ? " cautious\n" : "\n";
    if (rule.look_up) {
        text += fmt::format("    look-up {} items '{}'", rule.look_up->get, rule.look_up->items);
        for (const auto& [pointer, value] : rule.look_up->where) text += fmt::format(" {}={}", pointer, value);
        text += "\n";
    }
    if (rule.mark) text += fmt::format("    mark {}\n", *rule.mark);
    if (!rule.intent.headers.empty()) text += fmt::format("    headers {}\n", fmt::join(rule.intent.headers, ", "));
    if (rule.problems != ProblemDialect::problem) text += fmt::format("    problems {}\n", to_word(rule.problems));
    return text;
}

std::string dump(const Profile& profile) {
    std::string text = fmt::format("{}: {} -> {}://{}{} {}\n", profile.provider, fmt::join(profile.hosts, ", "),
                                   profile.upstream_scheme, profile.upstream_authority, profile.upstream_base_path,
                                   profile.facts ? profile.facts->confidence : "");
    for (const Rule& rule : profile.rules) text += dump(rule);
    return text + dump(profile.default_rule);
}

}  // namespace

TEST_CASE("the profiles that come with opid") {
    const LoadedProfiles loaded = load_profiles({OPID_SOURCE_DIR "/policies"}, test_sources());
    INFO(to_text(loaded.problems));
    REQUIRE(loaded.profiles);
    std::string text;
    for (const ProfilePtr& profile : loaded.profiles->all()) {
        CHECK(profile->facts.has_value());
        text += dump(*profile);
    }
    const std::string golden = OPID_SOURCE_DIR "/tests/unit/adapters/settings/policies.golden.txt";
    const char* mode = std::getenv("OPID_GOLDEN");
    if (mode != nullptr && std::string(mode) == "rewrite") std::ofstream(golden, std::ios::binary) << text;
    std::ifstream stream(golden, std::ios::binary);
    CHECK(text == std::string(std::istreambuf_iterator<char>(stream), {}));
}
