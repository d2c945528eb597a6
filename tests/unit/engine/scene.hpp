#pragma once
// One engine, one provider and a script of what becomes of each send, under virtual time.
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "support/sim_world.hpp"

namespace opid::test {

class Scene {
public:
    explicit Scene(bool keyed, std::deque<Fate> script = {}) : script_(std::move(script)) {
        ledger.keyed = keyed;
        start();
    }

    void start() {
        MemoryStore::Snapshot disk = process ? process->store.snapshot() : nullptr;
        const Instant clock = process ? process->timers.now() : Instant{};
        process.reset();
        process = std::make_unique<SimProcess>(
            SimProcess::Parts{ledger, disk, clock, ++epoch_, [this] { return next_fate(); }, [this] { return latency; },
                              [this](std::string_view call, unsigned, bool before) -> Status {
                                  if (before && call == "commit" && before_commit) return before_commit();
                                  if (before && call == "commit" && store_error) return *store_error;
                                  if (before && call == "load_body" && body_error) return *body_error;
                                  return ok();
                              },
                              [](std::string_view, bool) {}});
    }

    GuardedWrite write(const std::string& body = "{\"n\":1}") {
        return sim_write(process->board.current()->by_name("sim"), "op-1", body);
    }
    void spawn(GuardedWrite write) {
        answers.emplace_back();
        process->spawn(ask(std::move(write), answers.back()));
    }
    GuardedAnswer call(GuardedWrite write) {
        spawn(std::move(write));
        process->run();
        return answers.back();
    }
    GuardedAnswer call() { return call(write()); }
    int effects() { return ledger.effects["{\"n\":1}"]; }

    ProviderLedger ledger;
    Millis latency{5};
    std::optional<Error> store_error;
    std::optional<Error> body_error;
    std::function<Status()> before_commit;
    std::unique_ptr<SimProcess> process;
    std::deque<GuardedAnswer> answers;

private:
    Task<> ask(GuardedWrite write, GuardedAnswer& answer) {
        answer = co_await process->engine.handle(std::move(write), nullptr);
    }
    Fate next_fate() {
        if (script_.empty()) return Fate::works;
        const Fate fate = script_.front();
        script_.pop_front();
        return fate;
    }
    std::deque<Fate> script_;
    std::uint64_t epoch_ = 0;
};

inline std::string slug(const GuardedAnswer& answer) { return field_of(answer, "Opid-Problem"); }
inline std::string status(const GuardedAnswer& answer) { return field_of(answer, "Operation-Status"); }
inline std::string marked(const GuardedAnswer& answer) { return field_of(answer, "Idempotent-Replayed"); }

}  // namespace opid::test
