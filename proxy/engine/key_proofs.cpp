#include "engine/key_proofs.hpp"

#include <fmt/format.h>

#include <utility>

namespace opid {
namespace {

// Stored: a change forgets every proof.
std::string fact_of(const Profile& profile, const Rule& rule, std::string_view scheme_authority) {
    return fmt::format("key-honoured\n{}\n{}\n{}\n{}", profile.provider, rule.name, scheme_authority,
                       to_text(rule.key.carrier));
}

}  // namespace

Task<Status> KeyProofs::load() {
    auto remembering = store_.remembered();
    Result<std::vector<std::string>> facts = co_await std::move(remembering);
    if (!facts) co_return facts.error();
    const std::lock_guard lock(mutex_);
    seen_.insert(facts->begin(), facts->end());
    co_return ok();
}

std::optional<RecoveryPlan> KeyProofs::proven_plan(const Profile& profile, const Rule& rule,
                                                   std::string_view scheme_authority) const {
    if (!rule.key.proof || !profile.verified || !rule.recovery.cautious) return std::nullopt;
    const std::string fact = fact_of(profile, rule, scheme_authority);
    {
        const std::lock_guard lock(mutex_);
        if (!seen_.contains(fact)) return std::nullopt;
    }
    RecoveryPlan plan = rule.recovery;
    plan.cautious = false;
    return plan;
}

Task<Status> KeyProofs::note(const Profile& profile, const Rule& rule, std::string_view scheme_authority) {
    std::string fact = fact_of(profile, rule, scheme_authority);
    auto remembering = store_.remember(fact);
    Status kept = co_await std::move(remembering);
    if (!kept) co_return kept;
    const std::lock_guard lock(mutex_);
    seen_.insert(std::move(fact));
    co_return kept;
}

}  // namespace opid
