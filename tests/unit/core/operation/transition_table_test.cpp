// Every status meets every event, with and without doubt. The table is tests/golden/transition_table.txt.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <vector>

#include "core/operation/ladder.hpp"
#include "core/operation/step.hpp"
#include "support/golden.hpp"

using namespace opid;

namespace {

struct Case {
    std::string name;
    Event event;
};

Answered answered(Verdict verdict, bool frozen) {
    Answered event;
    event.verdict = verdict;
    event.frozen = frozen;
    event.evidence.stage = Stage::answered;
    event.evidence.http_status = 299;
    event.response.status = 299;
    return event;
}

LookedUp looked_up(LookUpResult result) {
    LookedUp event;
    event.result = result;
    event.attempt_id = "at_look";
    return event;
}

Resolved resolved(Resolution as) {
    Resolved event;
    event.as = as;
    event.actor = "pat";
    event.reason = "looked at the provider";
    return event;
}

std::vector<Case> all_events() {
    std::vector<Case> cases;
    Claimed claim;
    claim.attempt_id = "at_2";
    claim.provider_key = "key-1";
    claim.key_carrier = "header:Idempotency-Key";
    cases.push_back({"claimed", claim});
    claim.key_carrier = "header:X-Request-Id";
    cases.push_back({"claimed, the key elsewhere", claim});
    claim.key_carrier = "header:Idempotency-Key";
    claim.provider_key = "key-other";
    cases.push_back({"claimed, another key", claim});
    cases.push_back({"not_sent", NotSent{}});
    for (const Verdict verdict : all_verdicts) {
        if (verdict == Verdict::replayed) continue;
        cases.push_back({fmt::format("answered {}", to_word(verdict)), answered(verdict, false)});
        cases.push_back({fmt::format("answered {}, frozen", to_word(verdict)), answered(verdict, true)});
    }
    Answered named = answered(Verdict::duplicate, false);
    named.names_object = true;
    cases.push_back({"answered duplicate, names the object", named});
    Answered stored = answered(Verdict::unknown, true);
    stored.evidence.provider_replayed = true;
    cases.push_back({"answered unknown, the provider's stored answer", stored});
    cases.push_back({"lost", Lost{}});
    cases.push_back({"owner_lost", OwnerLost{}});
    cases.push_back({"looked_up found_once", looked_up(LookUpResult::found_once)});
    cases.push_back({"looked_up found_many", looked_up(LookUpResult::found_many)});
    cases.push_back({"looked_up absent_proven", looked_up(LookUpResult::absent_proven)});
    cases.push_back({"looked_up absent_unproven", looked_up(LookUpResult::absent_unproven)});
    cases.push_back({"looked_up failed", looked_up(LookUpResult::failed)});
    cases.push_back({"ladder_ended", LadderEnded{"nothing left"}});
    cases.push_back({"approved", Approved{}});
    cases.push_back({"denied", Denied{"pat", "no"}});
    cases.push_back({"approval_expired", ApprovalExpired{}});
    for (const auto& [name, as] : {std::pair{"succeeded", Resolution::succeeded},
                                   {"failed", Resolution::failed},
                                   {"not_executed", Resolution::not_executed},
                                   {"cancelled", Resolution::cancelled}}) {
        cases.push_back({fmt::format("resolved {}", name), resolved(as)});
    }
    cases.push_back({"cancelled", Cancelled{"pat", "given up"}});
    return cases;
}

Operation operation_in(OperationStatus status, bool doubt) {
    Operation operation;
    operation.id = "op-1";
    operation.status = status;
    operation.doubt = doubt;
    operation.sends = status == OperationStatus::prepared || status == OperationStatus::awaiting_approval ? 0 : 1;
    operation.provider_key = "key-1";
    operation.key_carrier = "header:Idempotency-Key";
    if (operation.sends > 0) {
        Attempt attempt;
        attempt.id = "at_1";
        operation.attempts.push_back(attempt);
        operation.first_sent = from_unix_ms(1000);
    }
    return operation;
}

std::string row(const std::string& event, const Operation& before, const Transition& result) {
    if (!result.allowed) return fmt::format("  {:<46} -\n", event);
    const Operation& after = result.next;
    std::string notes;
    if (after.doubt != before.doubt) notes += after.doubt ? " doubt" : " doubt-settled";
    if (after.keyed_retry_closed) notes += " keyed-retry-closed";
    if (after.key_generation != before.key_generation) notes += " next-key";
    if (after.response) notes += " response-kept";
    return fmt::format("  {:<46} {}{}\n", event, to_word(after.status), notes);
}

}  // namespace

TEST_CASE("the whole transition table is as reviewed") {
    std::string table =
        "# status and doubt, then every event and where it leads; '-': this event may not meet this status.\n";
    const auto events = all_events();
    for (const OperationStatus status : all_statuses) {
        for (const bool doubt : {false, true}) {
            const bool can_doubt = status == OperationStatus::in_progress || status == OperationStatus::unknown ||
                                   status == OperationStatus::needs_review;
            if (doubt && !can_doubt) continue;
            if (!doubt && can_doubt && status != OperationStatus::in_progress) continue;
            table += fmt::format("\n{}{}\n", to_word(status), doubt ? ", in doubt" : "");
            for (const Case& item : events) {
                const Operation before = operation_in(status, doubt);
                const Transition result = step(before, item.event, from_unix_ms(5000), "test");
                table += row(item.name, before, result);
            }
        }
    }
    CHECK(table == test::golden("transition_table.txt", table));
}

TEST_CASE("an allowed step adds exactly one event and a refused one changes nothing") {
    for (const OperationStatus status : all_statuses) {
        for (const Case& item : all_events()) {
            const Operation before = operation_in(status, status == OperationStatus::unknown);
            const Transition result = step(before, item.event, from_unix_ms(5000), "test");
            INFO(to_word(status) << " meets " << item.name);
            if (!result.allowed) {
                CHECK(result.next == before);
                continue;
            }
            REQUIRE(result.next.history.size() == before.history.size() + 1);
            const HistoryEvent& event = result.next.history.back();
            CHECK(event.sequence == result.next.history_length);
            CHECK(event.from == status);
            CHECK(event.to == result.next.status);
            CHECK(event.actor == "test");
            CHECK(result.next.updated == from_unix_ms(5000));
            CHECK((result.next.status == OperationStatus::in_progress || result.next.owner.node.empty()));
        }
    }
}

TEST_CASE("final statuses accept no event") {
    for (const OperationStatus status : all_statuses) {
        if (!is_final(status)) continue;
        for (const Case& item : all_events()) {
            CHECK_FALSE(step(operation_in(status, false), item.event, from_unix_ms(1), "test").allowed);
        }
    }
}

TEST_CASE("nothing leads from unknown to prepared but a proof or an operator's word") {
    for (const Case& item : all_events()) {
        const Transition result = step(operation_in(OperationStatus::unknown, true), item.event, from_unix_ms(1),
                                       "test");
        if (!result.allowed || result.next.status != OperationStatus::prepared) continue;
        INFO(item.name);
        CHECK((item.name == "looked_up absent_proven" || item.name == "resolved not_executed"));
    }
}

TEST_CASE("a failed connect is no send: window and count start anew") {
    Operation operation = operation_in(OperationStatus::prepared, false);
    Claimed claim;
    claim.attempt_id = "at_1";
    claim.provider_key = "key-1";
    operation = step(operation, claim, from_unix_ms(10), "caller").next;
    CHECK(operation.sends == 1);
    CHECK(operation.first_sent == from_unix_ms(10));
    operation = step(operation, NotSent{}, from_unix_ms(20), "opid").next;
    CHECK(operation.sends == 0);
    CHECK_FALSE(operation.first_sent);
    CHECK(operation.status == OperationStatus::prepared);
}

namespace {

RecoveryPlan keyed_plan() {
    RecoveryPlan plan;
    plan.has_key = true;
    plan.key_window = Millis{3600000};
    plan.steps = {KeyedRetryStep{}, ReviewStep{}};
    return plan;
}

}  // namespace

TEST_CASE("the ladder: a keyed retry while the key is remembered and attempts are left") {
    Operation operation = operation_in(OperationStatus::unknown, true);
    operation.updated = from_unix_ms(2000);
    const RecoveryPlan plan = keyed_plan();
    SECTION("a caller's retry goes at once, opid's own is spaced") {
        CHECK(next_move(operation, plan, from_unix_ms(2100), true).not_before == from_unix_ms(2100));
        CHECK(next_move(operation, plan, from_unix_ms(2100), false).not_before == from_unix_ms(3000));
    }
    SECTION("the provider's Retry-After binds the caller too") {
        operation.retry_not_before = from_unix_ms(9000);
        CHECK(next_move(operation, plan, from_unix_ms(2100), true).not_before == from_unix_ms(9000));
    }
    SECTION("the window counts from the first send") {
        CHECK(next_move(operation, plan, from_unix_ms(3600999), true).kind == NextStepKind::keyed_retry);
        const LadderMove late = next_move(operation, plan, from_unix_ms(3601000), true);
        CHECK(late.kind == NextStepKind::review);
        CHECK(late.reason == "the provider may have forgotten the key: its window is over");
    }
    SECTION("attempts count sends in all") {
        operation.sends = 5;
        CHECK(next_move(operation, plan, from_unix_ms(2100), true).kind == NextStepKind::review);
    }
    SECTION("a settled answer under the key closes it") {
        operation.keyed_retry_closed = true;
        CHECK(next_move(operation, plan, from_unix_ms(2100), true).kind == NextStepKind::review);
    }
    SECTION("an approval licenses one send") {
        operation.approval.emplace();
        const LadderMove move = next_move(operation, plan, from_unix_ms(2100), true);
        CHECK(move.kind == NextStepKind::review);
        CHECK(move.reason == "an approval licenses no second send of an operation in doubt");
    }
    SECTION("an unverified profile is not trusted with a second send") {
        RecoveryPlan cautious = plan;
        cautious.cautious = true;
        CHECK(next_move(operation, cautious, from_unix_ms(2100), true).kind == NextStepKind::review);
    }
    SECTION("no key, no second send; unless the rule is repeatable by its own meaning") {
        RecoveryPlan keyless = plan;
        keyless.has_key = false;
        CHECK(next_move(operation, keyless, from_unix_ms(2100), true).kind == NextStepKind::review);
        keyless.repeatable = true;
        CHECK(next_move(operation, keyless, from_unix_ms(99999999), true).kind == NextStepKind::keyed_retry);
    }
    SECTION("a key that the attempt in doubt did not carry protects nothing, whatever the profile says today") {
        operation.provider_key.clear();
        CHECK(next_move(operation, plan, from_unix_ms(2100), true).kind == NextStepKind::review);
    }
    SECTION("an empty ladder is a review") {
        CHECK(next_move(operation, RecoveryPlan{}, from_unix_ms(2100), true).kind == NextStepKind::review);
    }
    SECTION("steps come in the profile's order") {
        RecoveryPlan first_look = plan;
        first_look.steps = {LookUpStep{}, KeyedRetryStep{}, ReviewStep{}};
        CHECK(next_move(operation, first_look, from_unix_ms(2100), true).kind == NextStepKind::look_up);
        operation.look_ups = 5;
        CHECK(next_move(operation, first_look, from_unix_ms(2100), true).kind == NextStepKind::keyed_retry);
    }
}

TEST_CASE("backoff doubles up to its bound") {
    const Backoff backoff{Millis{1000}, Millis{60000}};
    CHECK(backoff.delay(0) == Millis{1000});
    CHECK(backoff.delay(3) == Millis{8000});
    CHECK(backoff.delay(6) == Millis{60000});
    CHECK(backoff.delay(4000000000u) == Millis{60000});
}
