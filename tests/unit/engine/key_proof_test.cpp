// A key whose effect has to be shown before it is trusted: no keyed retry until an answer has shown it, then for good.
#include <catch2/catch.hpp>

#include <deque>

#include "engine/binding.hpp"
#include "support/sim_world.hpp"

using namespace opid;
using namespace opid::test;

namespace {

ProfilePtr demanding(bool verified = true, const std::string& carrier = "header:Idempotency-Key") {
    Profile profile = *sim_profile(true);
    Rule& rule = profile.default_rule;
    rule.key.carrier = *parse_key_carrier(carrier);
    rule.key.proof.emplace();
    rule.key.proof->body = {{"/made", Predicate::present()}};
    rule.recovery.cautious = true;
    profile.verified = verified;
    return std::make_shared<const Profile>(std::move(profile));
}

class Lives {
public:
    Lives() { start(); }

    // The next life of the process, on the same disk, before anybody asks.
    void start() {
        const MemoryStore::Snapshot disk = process_ ? process_->store.snapshot() : nullptr;
        const Instant clock = process_ ? process_->timers.now() : Instant{};
        process_.reset();
        process_ = std::make_unique<SimProcess>(
            SimProcess::Parts{ledger_, disk, clock, ++epoch_, [this] { return next_fate(); }, [] { return Millis{5}; },
                              [this](std::string_view call, unsigned, bool before) -> Status {
                                  if (before && call == "remember" && forgetful) {
                                      return Error(ErrorKind::unavailable, "disk full");
                                  }
                                  return ok();
                              },
                              [](std::string_view, bool) {}});
        process_->run(recover());
    }

    int ask(const ProfilePtr& profile, const std::string& id, std::deque<Fate> fates) {
        fates_ = std::move(fates);
        GuardedAnswer answer;
        process_->run(ask_once(sim_write(profile, id, "{\"of\":\"" + id + "\"}"), answer));
        return answer.answer.status;
    }

    bool forgetful = false;

private:
    Task<> recover() {
        const Result<std::size_t> moved = co_await process_->engine.recover_owned_by_the_dead(process_->board);
        CHECK(moved);
    }
    Task<> ask_once(GuardedWrite write, GuardedAnswer& answer) {
        answer = co_await process_->engine.handle(std::move(write), nullptr);
    }
    Fate next_fate() {
        if (fates_.empty()) return Fate::works;
        const Fate fate = fates_.front();
        fates_.pop_front();
        return fate;
    }

    ProviderLedger ledger_{true, {}, {}, {}, {}};
    std::deque<Fate> fates_;
    std::uint64_t epoch_ = 0;
    std::unique_ptr<SimProcess> process_;
};

}  // namespace

TEST_CASE("a key that nobody has seen honoured licenses no second send; one that was seen does, after a restart too") {
    Lives lives;
    const ProfilePtr profile = demanding();
    CHECK(lives.ask(profile, "op-1", {Fate::lost_after}) == 423);
    CHECK(lives.ask(profile, "op-2", {}) == 201);  // shows it
    CHECK(lives.ask(profile, "op-3", {Fate::lost_after}) == 201);
    lives.start();
    CHECK(lives.ask(profile, "op-4", {Fate::lost_after}) == 201);
    CHECK(lives.ask(profile, "op-1", {}) == 423);  // a review that began stays a person's
}

TEST_CASE("proof counts for the key that gave it and for no profile that is unverified") {
    Lives lives;
    CHECK(lives.ask(demanding(), "op-1", {}) == 201);
    CHECK(lives.ask(demanding(true, "header:X-Request-Key"), "op-2", {Fate::lost_after}) == 423);
    CHECK(lives.ask(demanding(false), "op-3", {Fate::lost_after}) == 423);
    CHECK(lives.ask(demanding(), "op-4", {Fate::lost_after}) == 201);
}

TEST_CASE("an answer that shows nothing proves nothing, nor does a proof that could not be kept") {
    Lives lives;
    CHECK(lives.ask(demanding(), "op-1", {Fate::limited}) == 429);
    CHECK(lives.ask(demanding(), "op-2", {Fate::lost_after}) == 423);
    lives.forgetful = true;
    CHECK(lives.ask(demanding(), "op-3", {}) == 201);
    CHECK(lives.ask(demanding(), "op-4", {Fate::lost_after}) == 423);
    lives.forgetful = false;
    CHECK(lives.ask(demanding(), "op-5", {}) == 201);
    CHECK(lives.ask(demanding(), "op-6", {Fate::lost_after}) == 201);
}
