// A store in trouble, and callers that share one attempt.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "engine/binding.hpp"
#include "scene.hpp"

using namespace opid;
using namespace opid::test;

TEST_CASE("callers that come while it runs share its answer: one send, one unmarked answer") {
    Scene scene(false);
    scene.latency = Millis{400};
    for (int i = 0; i < 64; ++i) scene.spawn(scene.write());
    scene.spawn(scene.write("{\"n\":2}"));
    scene.process->run();
    int unmarked = 0;
    for (std::size_t i = 0; i < 64; ++i) {
        CHECK(scene.answers[i].answer.status == 201);
        if (marked(scene.answers[i]).empty()) ++unmarked;
    }
    CHECK(unmarked == 1);
    CHECK(slug(scene.answers[64]) == "payload-mismatch");
    CHECK(scene.effects() == 1);
    CHECK(scene.process->engine.in_flight() == 0);
}

TEST_CASE("joiners of a refused attempt hear the same and send nothing themselves") {
    Scene scene(false, {Fate::limited});
    scene.latency = Millis{100};
    for (int i = 0; i < 5; ++i) scene.spawn(scene.write());
    scene.process->run();
    for (const GuardedAnswer& answer : scene.answers) CHECK(answer.answer.status == 429);
    CHECK(scene.ledger.sends["{\"n\":1}"] == 1);
}

TEST_CASE("the store refuses the claim: nothing is sent, and the same ID works when it is back") {
    Scene scene(false);
    scene.store_error = Error(ErrorKind::unavailable, "disk full");
    const GuardedAnswer refused = scene.call();
    CHECK(refused.answer.status == 503);
    CHECK(slug(refused) == "store-unavailable");
    CHECK(scene.ledger.sends.empty());
    scene.store_error.reset();
    CHECK(scene.call().answer.status == 201);
    CHECK(scene.effects() == 1);
}

TEST_CASE("an outcome that could not be recorded is doubt: the sweep says so, the key resumes it") {
    Scene scene(true);
    int commits = 0;
    // The claim goes through, the outcome doesn't.
    scene.before_commit = [&commits]() -> Status {
        if (++commits == 2) return Error(ErrorKind::unavailable, "disk full");
        return ok();
    };
    const GuardedAnswer first = scene.call();
    CHECK(first.answer.status == 504);
    CHECK(slug(first) == "outcome-unknown");
    auto sweep = [](SimProcess& process, Result<std::size_t>& moved) -> Task<> {
        DuePlace place;
        moved = co_await process.engine.sweep_open(process.board, 100, place);
    };
    Result<std::size_t> moved;
    scene.process->run(sweep(*scene.process, moved));
    REQUIRE(moved);
    CHECK(*moved == 1);
    const GuardedAnswer second = scene.call();
    CHECK(second.answer.status == 201);
    CHECK(scene.effects() == 1);
    CHECK(scene.ledger.keys["{\"n\":1}"].size() == 1);
}

TEST_CASE("a refused claim says nothing was sent only where nothing can have been") {
    Scene scene(true, {Fate::lost_after});
    int commits = 0;
    int refused_at = 3;  // claim, outcome, and the claim of the resend within the same request
    scene.before_commit = [&]() -> Status {
        if (++commits == refused_at) return Error(ErrorKind::unavailable, "disk full");
        return ok();
    };
    const GuardedAnswer sent = scene.call();
    CHECK(sent.answer.status == 504);
    CHECK(slug(sent) == "outcome-unknown");
    CHECK(status(sent) == "unknown");
    CHECK(sent.answer.body->find("othing was sent") == std::string::npos);
    refused_at = commits + 1;
    const GuardedAnswer retry = scene.call();
    CHECK(retry.answer.status == 503);
    CHECK(slug(retry) == "store-unavailable");
    CHECK(status(retry) == "unknown");
    CHECK(retry.answer.body->find("an earlier attempt may have reached the provider") != std::string::npos);
    CHECK(scene.call().answer.status == 201);
    CHECK(scene.effects() == 1);
    CHECK(scene.ledger.sends["{\"n\":1}"] == 2);
}

TEST_CASE("those who waited are given an error of the provider as a replay, each in its own words") {
    Scene scene(false, {Fate::error_after});
    scene.process->provider.shape = [](InboundResponse& response) {
        response.body = R"({"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"busy"}})";
        response.fields.insert(response.fields.end(),
                               {{"Set-Cookie", "s=1"}, {"Retry-After", "7"}, {"X-Request-Id", "r"}});
    };
    for (const char* const id : {"1", "\"two\""}) {
        GuardedWrite write = scene.write();
        write.jsonrpc_id = id;
        scene.spawn(std::move(write));
    }
    scene.process->run();
    const GuardedAnswer& holder = scene.answers[0];
    const GuardedAnswer& waiter = scene.answers[1];
    CHECK(holder.answer.status == 500);
    CHECK(field_of(holder, "Set-Cookie") == "s=1");
    CHECK(marked(holder).empty());
    CHECK(waiter.answer.status == 500);
    CHECK(waiter.answer.body->find("\"id\":\"two\"") != std::string::npos);
    CHECK(field_of(waiter, "Set-Cookie").empty());
    CHECK(field_of(waiter, "Retry-After") == "7");
    CHECK(field_of(waiter, "X-Request-Id") == "r");
    CHECK(status(waiter) == status(holder));
    CHECK(marked(waiter) == "true");
    CHECK(scene.effects() == 1);
}

TEST_CASE("an answer that is in doubt and not kept is nobody's empty success") {
    const bool keys = GENERATE(true, false);
    Scene scene(keys, {Fate::error_after});
    scene.process->provider.shape = [](InboundResponse& response) {
        response.body_kept = false;
        response.body.clear();
    };
    scene.spawn(scene.write());
    scene.spawn(scene.write());
    scene.process->run();
    for (const GuardedAnswer& answer : scene.answers) {
        CHECK(answer.answer.status == (keys ? 504 : 423));
        CHECK(slug(answer) == (keys ? "outcome-unknown" : "needs-review"));
        CHECK(field_of(answer, "X-Should-Retry") == (keys ? "" : "false"));
    }
    CHECK(scene.effects() == 1);
}

TEST_CASE("operations that wait for their caller's retry keep no sweep from those behind them") {
    Scene scene(true);
    Profile brief = *sim_profile(true);
    brief.provider = "brief";
    brief.default_rule.recovery.key_window = Millis{3'600'000};
    const auto brief_profile = std::make_shared<const Profile>(std::move(brief));
    scene.process->board.publish(
        std::make_shared<const ProfileSet>(std::vector<ProfilePtr>{sim_profile(true), brief_profile}));
    int commits = 0;
    scene.before_commit = [&commits]() -> Status {  // claims go through, outcomes don't
        if (++commits == 2) return Error(ErrorKind::unavailable, "disk full");
        return ok();
    };
    DuePlace place;
    const auto sweep = [&scene, &place]() {
        auto task = [](SimProcess& process, DuePlace& at, Result<std::size_t>& moved) -> Task<> {
            moved = co_await process.engine.sweep_open(process.board, 1, at);
        };
        Result<std::size_t> moved;
        scene.process->run(task(*scene.process, place, moved));
        REQUIRE(moved);
        return *moved;
    };
    const auto pass = [&scene](Millis time) { scene.process->timers.start_at(scene.process->timers.now() + time); };
    for (int n = 1; n <= 3; ++n) {
        commits = 0;
        const ProfilePtr profile = n == 3 ? brief_profile : scene.process->board.current()->by_name("sim");
        scene.call(sim_write(profile, "op-" + std::to_string(n), fmt::format("{{\"n\":{}}}", n)));
        CHECK(sweep() == 1);  // its owner is not at work on it
        pass(Millis{1000});
    }
    scene.before_commit = nullptr;
    place = {};
    pass(Millis{7'200'000});
    std::vector<std::size_t> moved;
    for (int n = 0; n < 4; ++n) moved.push_back(sweep());
    CHECK(moved == std::vector<std::size_t>{0, 0, 1, 0});  // the window of "brief" is over, that of the others isn't
    CHECK(slug(scene.call(sim_write(brief_profile, "op-3", "{\"n\":3}"))) == "needs-review");
    CHECK(scene.ledger.sends.size() == 3);
}

TEST_CASE("a recorded request that can't be read is no other request") {
    Scene scene(false);
    const std::string body = "{\"n\":1,\"t\":\"" + std::string(5000, 'x') + "\"}";
    CHECK(scene.call(scene.write(body)).answer.status == 201);
    auto changed = std::make_shared<Profile>(*sim_profile(false));
    changed->digest = "changed";
    changed->default_rule.intent.ignore.push_back(JsonPattern::parse("/t").value());
    GuardedWrite again = scene.write(body);
    again.profile = changed;
    again.rule = &changed->default_rule;

    scene.body_error = Error(ErrorKind::unavailable, "a bad block");
    const GuardedAnswer refused = scene.call(again);
    CHECK(slug(refused) == "store-unavailable");
    CHECK(refused.answer.status == 503);
    GuardedWrite other = again;
    other.intent.body.front() = '[';
    CHECK(slug(scene.call(other)) == "store-unavailable");
    CHECK(scene.ledger.effects[body] == 1);

    scene.body_error.reset();
    const GuardedAnswer replayed = scene.call(again);
    CHECK(replayed.answer.status == 201);
    CHECK(marked(replayed) == "true");
    CHECK(slug(scene.call(other)) == "payload-mismatch");
    CHECK(scene.ledger.effects[body] == 1);
}
