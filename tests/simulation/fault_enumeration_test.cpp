// The power goes out before and after every call that the engine makes to a port; the process starts again on the
// same disk and the same provider; the caller retries. The count of effects is the truth.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "support/sim_world.hpp"

using namespace opid;
using namespace opid::test;

namespace {

enum class Kind { power_cut, error };

struct Outcome {
    bool survived = true;  // no fault was met: the enumeration is complete
    int effects = 0;
    std::size_t keys = 0;
    std::string last_status;
    int last_code = 0;
    std::vector<std::string> broken;
};

// Meets its fault at one call, counted over store and provider alike.
class FaultPlan {
public:
    FaultPlan(unsigned at, bool before, Kind kind) : at_(at), before_(before), kind_(kind) {}

    Status store_call(std::string_view call, bool before) {
        if (!due(before)) return ok();
        if (kind_ == Kind::power_cut) throw PowerCut{};
        if (call == "commit" && !before) return Error(ErrorKind::indeterminate, "the sync failed");
        return Error(ErrorKind::unavailable, "the store is closed");
    }
    void provider_call(bool before) {
        if (due(before) && kind_ == Kind::power_cut) throw PowerCut{};
    }
    bool met() const { return met_; }

private:
    bool due(bool before) {
        if (before) ++calls_;
        if (met_ || calls_ != at_ || before != before_) return false;
        met_ = true;
        return true;
    }
    unsigned at_;
    bool before_;
    Kind kind_;
    unsigned calls_ = 0;
    bool met_ = false;
};

Task<> call_once(SimProcess& process, std::string id, std::string body, GuardedAnswer& answer, bool& answered) {
    const ProfilePtr profile = process.board.current()->by_name("sim");
    answer = co_await process.engine.handle(sim_write(profile, id, body), nullptr);
    answered = true;
}

// A process whose recovery fails doesn't open its listener.
Task<> start_up(SimProcess& process, bool& open) {
    const Result<std::size_t> recovered = co_await process.engine.recover_owned_by_the_dead(process.board);
    open = recovered.has_value();
}

Outcome play(bool keyed, Fate first_fate, unsigned at, bool before, Kind kind) {
    ProviderLedger ledger;
    ledger.keyed = keyed;
    FaultPlan plan(at, before, kind);
    MemoryStore::Snapshot disk;
    Instant clock{};
    bool first_send = true;
    Outcome outcome;
    // A life of the process ends with its power; the caller asks again in the next one, and once more after a fault.
    std::uint64_t asked = 0;
    for (std::uint64_t life = 1; asked < 6 || (outcome.last_code == 503 && asked < 8); ++life) {
        SimProcess process({ledger, disk, clock, life,
                            [&] {
                                const Fate fate = first_send ? first_fate : Fate::works;
                                first_send = false;
                                return fate;
                            },
                            [] { return Millis{5}; },
                            [&plan](std::string_view call, unsigned, bool b) { return plan.store_call(call, b); },
                            [&plan](std::string_view, bool b) { plan.provider_call(b); }});
        bool open = false;
        bool alive = process.run(start_up(process, open)) && open;
        while (alive && (asked < 6 || (outcome.last_code == 503 && asked < 8))) {
            ++asked;
            GuardedAnswer answer;
            bool answered = false;
            alive = process.run(call_once(process, "op-1", "{\"amount\":5}", answer, answered));
            if (!answered) continue;
            outcome.last_code = answer.answer.status;
            outcome.last_status = field_of(answer, "Operation-Status");
            // A latched store needs a restart, as an operator would do.
            if (process.store.health().latched) alive = false;
        }
        disk = process.store.snapshot();
        clock = process.timers.now() + Millis{60000};
        for (auto& text : process.observer.broken) outcome.broken.push_back(text);
    }
    outcome.survived = !plan.met();
    outcome.effects = ledger.effects["{\"amount\":5}"];
    outcome.keys = ledger.keys["{\"amount\":5}"].size();
    return outcome;
}

void enumerate(bool keyed, Fate fate, Kind kind) {
    for (const bool before : {true, false}) {
        unsigned at = 1;
        for (;; ++at) {
            REQUIRE(at < 200);
            const Outcome outcome = play(keyed, fate, at, before, kind);
            INFO(fmt::format("{} fate {} {} call {} {}", keyed ? "keyed" : "keyless", static_cast<int>(fate),
                             before ? "before" : "after", at, kind == Kind::power_cut ? "power cut" : "error"));
            CHECK(outcome.effects <= 1);
            CHECK(outcome.keys <= 1);
            CHECK(outcome.broken.empty());
            const bool ended = outcome.last_status == "succeeded" || outcome.last_status == "failed" ||
                               outcome.last_status == "needs_review";
            CHECK(ended);
            // Where the provider honours keys, doubt ends by itself; with one effect, since the last sends work.
            if (keyed && fate != Fate::invalid && fate != Fate::error_before) CHECK(outcome.effects == 1);
            if (outcome.last_status == "succeeded") CHECK(outcome.effects == 1);
            if (outcome.survived) break;
        }
        CHECK(at > 3);  // the plan did meet the engine's calls
    }
}

}  // namespace

TEST_CASE("a power cut before or after every port call never doubles an effect", "[fault]") {
    for (const bool keyed : {false, true}) {
        for (int fate = 0; fate < fates; ++fate) enumerate(keyed, static_cast<Fate>(fate), Kind::power_cut);
    }
}

TEST_CASE("an error from any store call never doubles an effect", "[fault]") {
    for (const bool keyed : {false, true}) {
        for (int fate = 0; fate < fates; ++fate) enumerate(keyed, static_cast<Fate>(fate), Kind::error);
    }
}
