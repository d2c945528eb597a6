// The engine's answers, one situation each, under virtual time.
#include <catch2/catch.hpp>

#include "engine/binding.hpp"
#include "scene.hpp"

using namespace opid;
using namespace opid::test;

TEST_CASE("a first write passes, a retry is replayed and marked") {
    Scene scene(false);
    const GuardedAnswer first = scene.call();
    CHECK(first.answer.status == 201);
    CHECK(status(first) == "succeeded");
    CHECK(marked(first).empty());
    const GuardedAnswer second = scene.call();
    CHECK(second.answer.status == 201);
    CHECK(*second.answer.body == *first.answer.body);
    CHECK(marked(second) == "true");
    CHECK(field_of(second, "Operation-Attempt") == field_of(first, "Operation-Attempt"));
    CHECK(scene.effects() == 1);
}

TEST_CASE("no keys: a lost answer is for a person at once, and stays so") {
    for (const Fate fate : {Fate::lost_after, Fate::lost_before, Fate::cut}) {
        Scene scene(false, {fate});
        const GuardedAnswer first = scene.call();
        CHECK(first.answer.status == 423);
        CHECK(slug(first) == "needs-review");
        CHECK(status(first) == "needs_review");
        CHECK(field_of(first, "X-Should-Retry") == "false");
        CHECK(scene.call().answer.status == 423);
        CHECK(scene.effects() <= 1);
        CHECK(scene.ledger.sends["{\"n\":1}"] <= 1);
    }
}

TEST_CASE("no keys: the provider's own 5xx is passed on, with the doubt beside it") {
    Scene scene(false, {Fate::error_after});
    const GuardedAnswer first = scene.call();
    CHECK(first.answer.status == 500);
    CHECK(*first.answer.body == "{\"error\":\"trouble\"}");
    CHECK(status(first) == "unknown");
    CHECK(field_of(first, "X-Should-Retry") == "false");
    CHECK(slug(first).empty());
    CHECK(scene.call().answer.status == 423);
    CHECK(scene.effects() == 1);
}

TEST_CASE("keys: a lost answer is resumed under the same key within the caller's own request") {
    Scene scene(true, {Fate::lost_after});
    const GuardedAnswer first = scene.call();
    CHECK(first.answer.status == 201);
    CHECK(marked(first).empty());
    CHECK(scene.effects() == 1);
    CHECK(scene.ledger.keys["{\"n\":1}"].size() == 1);
    CHECK(scene.ledger.sends["{\"n\":1}"] == 2);
}

TEST_CASE("keys: a provider in trouble shows its 5xx; the caller's retry goes on under the same key") {
    Scene scene(true, {Fate::error_after});
    const GuardedAnswer first = scene.call();
    CHECK(first.answer.status == 500);
    CHECK(status(first) == "unknown");
    CHECK(field_of(first, "X-Should-Retry").empty());
    const GuardedAnswer second = scene.call();
    CHECK(second.answer.status == 201);
    CHECK(scene.effects() == 1);
    CHECK(scene.ledger.keys["{\"n\":1}"].size() == 1);
}

TEST_CASE("not sent and not executed leave the operation open for the same ID") {
    Scene scene(false, {Fate::refused, Fate::limited});
    const GuardedAnswer refused = scene.call();
    CHECK(refused.answer.status == 502);
    CHECK(slug(refused) == "not-sent");
    CHECK(status(refused) == "prepared");
    const GuardedAnswer limited = scene.call();
    CHECK(limited.answer.status == 429);
    CHECK(status(limited) == "prepared");
    CHECK(slug(limited).empty());
    CHECK(scene.call().answer.status == 201);
    CHECK(scene.effects() == 1);
}

TEST_CASE("a refusal after an ambiguous attempt proves nothing about the first one") {
    Scene scene(true, {Fate::error_after, Fate::invalid});
    scene.call();
    const GuardedAnswer second = scene.call();
    CHECK(second.answer.status == 423);
    CHECK(status(second) == "needs_review");
    CHECK(scene.effects() == 1);
}

TEST_CASE("the same ID with another payload is refused and told where it differs") {
    Scene scene(false);
    scene.call();
    const GuardedAnswer other = scene.call(scene.write("{\"n\":2,\"m\":3}"));
    CHECK(other.answer.status == 422);
    CHECK(slug(other) == "payload-mismatch");
    CHECK(other.answer.body->find("\"differences\":[\"/m\",\"/n\"]") != std::string::npos);
    CHECK(status(other) == "succeeded");
    CHECK(scene.ledger.sends.size() == 1);
}

TEST_CASE("a caller waits no longer than it said") {
    Scene scene(false);
    scene.latency = Millis{5000};
    scene.spawn(scene.write());
    GuardedWrite impatient = scene.write();
    impatient.wait = Millis{1000};
    scene.spawn(std::move(impatient));
    scene.process->run();
    CHECK(scene.answers[0].answer.status == 201);
    CHECK(scene.answers[1].answer.status == 409);
    CHECK(slug(scene.answers[1]) == "operation-in-progress");
    CHECK_FALSE(field_of(scene.answers[1], "Retry-After").empty());
}

TEST_CASE("an operator's word ends a review, and the history says who and why") {
    const auto resolve = [](Scene& scene, Resolution as) {
        Resolved resolved;
        resolved.as = as;
        resolved.actor = "pat";
        resolved.reason = "looked at the provider";
        const OperationKey key = key_of(scene.write());
        Result<Operation> result;
        auto task = [](SimProcess& process, OperationKey at, Event event, Result<Operation>& out) -> Task<> {
            out = co_await process.engine.apply(at, std::move(event), "pat", process.board);
        };
        scene.process->run(task(*scene.process, key, resolved, result));
        return result;
    };
    SECTION("not executed: the same ID may run") {
        Scene scene(false, {Fate::lost_before});
        scene.call();
        REQUIRE(resolve(scene, Resolution::not_executed));
        CHECK(scene.call().answer.status == 201);
        CHECK(scene.effects() == 1);
    }
    SECTION("succeeded: a retry is told so") {
        Scene scene(false, {Fate::lost_after});
        scene.call();
        const Result<Operation> resolved = resolve(scene, Resolution::succeeded);
        REQUIRE(resolved);
        CHECK(resolved->history.back().actor == "pat");
        CHECK(resolved->history.back().detail == "as succeeded: looked at the provider");
        const GuardedAnswer answer = scene.call();
        CHECK(answer.answer.status == 200);
        CHECK(field_of(answer, "Operation-Recovered") == "operator");
        CHECK(scene.effects() == 1);
        const Result<Operation> again = resolve(scene, Resolution::failed);
        REQUIRE_FALSE(again);
        CHECK(again.error().what() ==
              "the operation is succeeded; only one in doubt (unknown or needs_review) can be resolved");
    }
    SECTION("cancelled: nobody may run it") {
        Scene scene(false, {Fate::lost_after});
        scene.call();
        REQUIRE(resolve(scene, Resolution::cancelled));
        const GuardedAnswer answer = scene.call();
        CHECK(answer.answer.status == 409);
        CHECK(slug(answer) == "operation-cancelled");
    }
}

TEST_CASE("after a restart the same key is used and the same answer replayed") {
    Scene scene(true, {Fate::error_after});
    scene.call();
    scene.start();
    const GuardedAnswer second = scene.call();
    CHECK(second.answer.status == 201);
    CHECK(scene.ledger.keys["{\"n\":1}"].size() == 1);
    scene.start();
    const GuardedAnswer third = scene.call();
    CHECK(marked(third) == "true");
    CHECK(*third.answer.body == *second.answer.body);
    CHECK(scene.effects() == 1);
}

TEST_CASE("an approval that policy wants holds the write back and binds its digest") {
    Scene scene(false);
    auto profile = std::make_shared<Profile>(*sim_profile(false));
    profile->default_rule.approval_required = true;
    const auto held = [&] {
        GuardedWrite write = sim_write(profile, "op-1", "{\"n\":1}");
        return scene.call(std::move(write));
    };
    const GuardedAnswer first = held();
    CHECK(first.answer.status == 403);
    CHECK(slug(first) == "approval-required");
    CHECK(status(first) == "awaiting_approval");
    CHECK(first.answer.body->find("\"digest\":\"") != std::string::npos);
    CHECK(slug(held()) == "approval-required");
    CHECK(scene.ledger.sends.empty());
}

TEST_CASE("the same ID at another provider is another request, even at the same address") {
    Scene scene(false);
    scene.call();
    auto twin = std::make_shared<Profile>(*sim_profile(false));
    twin->provider = "twin";
    const GuardedAnswer other = scene.call(sim_write(twin, "op-1", "{\"n\":1}"));
    CHECK(slug(other) == "payload-mismatch");
    CHECK(other.answer.body->find("\"differences\":[\"target\"]") != std::string::npos);
    CHECK(scene.effects() == 1);
}

TEST_CASE("a profile that learns of keys while an operation is in doubt licenses no second send") {
    Scene scene(false, {Fate::error_after});
    scene.call();
    const ProfilePtr keyed = sim_profile(true);
    const GuardedAnswer second = scene.call(sim_write(keyed, "op-1", "{\"n\":1}"));
    CHECK(second.answer.status == 423);
    CHECK(scene.ledger.sends["{\"n\":1}"] == 1);
}

TEST_CASE("a key that goes elsewhere now is no key for an operation in doubt") {
    Scene scene(true, {Fate::error_after});
    scene.call();
    Profile moved = *sim_profile(true);
    SECTION("another carrier") { moved.default_rule.key.carrier = *parse_key_carrier("header:X-Request-Id"); }
    SECTION("another spelling") { moved.default_rule.key.quoted = true; }
    const auto profile = std::make_shared<const Profile>(std::move(moved));
    for (int n = 0; n < 2; ++n) {
        const GuardedAnswer retry = scene.call(sim_write(profile, "op-1", "{\"n\":1}"));
        CHECK(retry.answer.status == 423);
        CHECK(status(retry) == "needs_review");
    }
    CHECK(scene.ledger.sends["{\"n\":1}"] == 1);
}
