#pragma once
// What one answer of a provider says about the operation. Profiles map answers to these words.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace opid {

// Stored in attempts. Never renumber or reuse.
enum class Verdict : std::uint8_t {
    succeeded = 1,
    failed = 2,        // ended without effect; the same payload can't do better
    not_executed = 3,  // a gate in front of the work refused; nothing happened; may be tried again
    unknown = 4,       // may have happened
    in_flight = 5,     // the provider still works on this key
    mismatch = 6,      // the provider knows this key with another payload
    duplicate = 7,     // the provider says that it exists already
    replayed = 8,      // the provider's stored first answer: read as that answer
};

inline constexpr std::array all_verdicts{Verdict::succeeded, Verdict::failed,    Verdict::not_executed,
                                         Verdict::unknown,   Verdict::in_flight, Verdict::mismatch,
                                         Verdict::duplicate, Verdict::replayed};

constexpr std::string_view to_word(Verdict verdict) {
    switch (verdict) {
        case Verdict::succeeded: return "succeeded";
        case Verdict::failed: return "failed";
        case Verdict::not_executed: return "not_executed";
        case Verdict::unknown: return "unknown";
        case Verdict::in_flight: return "in_flight";
        case Verdict::mismatch: return "mismatch";
        case Verdict::duplicate: return "duplicate";
        case Verdict::replayed: return "replayed";
    }
    return "?";
}

constexpr std::optional<Verdict> verdict_from_word(std::string_view word) {
    for (const Verdict verdict : all_verdicts) {
        if (to_word(verdict) == word) return verdict;
    }
    return std::nullopt;
}

// The classes that hold where a profile says nothing (RFC 9110 section 15 read for writes):
// a 5xx says that the provider got into trouble, not when; 401/403/407/421/425/429 come from gates
// in front of the work; a redirect was not followed, so a 307/308 did nothing and a 303 is a success.
constexpr Verdict default_verdict(int status) {
    if (status >= 200 && status <= 299) return Verdict::succeeded;
    switch (status) {
        case 303: return Verdict::succeeded;
        case 400:
        case 402:
        case 404:
        case 405:
        case 406:
        case 410:
        case 411:
        case 413:
        case 414:
        case 415:
        case 422:
        case 451: return Verdict::failed;
        case 307:
        case 308:
        case 401:
        case 403:
        case 407:
        case 421:
        case 425:
        case 429: return Verdict::not_executed;
        default: return Verdict::unknown;
    }
}

}  // namespace opid
