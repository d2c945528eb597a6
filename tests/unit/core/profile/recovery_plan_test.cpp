#include <catch2/catch.hpp>

#include "core/profile/recovery_plan.hpp"

using namespace opid;

namespace {

std::string steps(const RecoveryPlan& plan) {
    std::string text;
    for (const LadderStep& step : plan.steps) {
        if (!text.empty()) text += " ";
        if (std::holds_alternative<KeyedRetryStep>(step)) text += "keyed_retry";
        if (std::holds_alternative<LookUpStep>(step)) text += "look_up";
        if (std::holds_alternative<ReviewStep>(step)) text += "review";
    }
    return text;
}

KeyRule key() {
    KeyRule made;
    made.carrier = *parse_key_carrier("header:K");
    return made;
}

}  // namespace

TEST_CASE("the ladder where a profile gives none") {
    CHECK(steps(make_recovery_plan(KeyRule{}, std::nullopt, false, true)) == "review");
    CHECK(steps(make_recovery_plan(KeyRule{}, std::nullopt, true, true)) == "keyed_retry review");
    const RecoveryPlan plan = make_recovery_plan(key(), std::nullopt, false, true);
    CHECK(steps(plan) == "keyed_retry review");
    const auto& retry = std::get<KeyedRetryStep>(plan.steps.front());
    CHECK(retry.attempts == 5);
    CHECK(retry.backoff == Backoff{Millis{1000}, Millis{60000}});
    CHECK(plan.has_key);
    CHECK_FALSE(plan.cautious);
    CHECK(plan.key_window == Millis{54 * 60000});  // 1 h without its margin
}

TEST_CASE("windows and margins") {
    CHECK(default_margin(Millis{3600000}) == Millis{360000});
    CHECK(default_margin(Millis{24 * 3600000}) == Millis{600000});
    CHECK(default_margin(Millis{5}) == Millis{0});
    KeyRule rule = key();
    rule.window = {KeyWindow::Bound::exactly, Millis{1000}, Millis{5000}};
    CHECK(make_recovery_plan(rule, std::nullopt, false, true).key_window == Millis{0});
    rule.window.bound = KeyWindow::Bound::forever;
    CHECK_FALSE(make_recovery_plan(rule, std::nullopt, false, true).key_window);
    rule.window.bound = KeyWindow::Bound::while_object_exists;
    CHECK_FALSE(make_recovery_plan(rule, std::nullopt, false, true).key_window);
    rule.window = {KeyWindow::Bound::unpublished, Millis{3600000}, Millis{0}};
    CHECK(make_recovery_plan(rule, std::nullopt, false, true).key_window == Millis{3600000});
    CHECK_FALSE(make_recovery_plan(KeyRule{}, std::nullopt, false, true).key_window);
}

TEST_CASE("doubts about the profile make it cautious") {
    CHECK(make_recovery_plan(key(), std::nullopt, false, false).cautious);
    KeyRule unproven = key();
    unproven.proof.emplace();
    CHECK(make_recovery_plan(unproven, std::nullopt, false, true).cautious);
}

TEST_CASE("a ladder of the profile's own") {
    const std::vector<LadderStep> given{KeyedRetryStep{}, LookUpStep{}};
    CHECK(steps(make_recovery_plan(key(), given, false, true)) == "keyed_retry look_up review");
    CHECK(steps(make_recovery_plan(KeyRule{}, given, false, true)) == "look_up review");
    CHECK(steps(make_recovery_plan(KeyRule{}, given, true, true)) == "keyed_retry look_up review");
    CHECK(steps(make_recovery_plan(key(), std::vector<LadderStep>{}, false, true)) == "review");
}
