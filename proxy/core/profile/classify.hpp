#pragma once
// From a provider's answer to the event that the state machine takes.
#include <string>
#include <string_view>

#include "core/operation/event.hpp"
#include "core/profile/profile.hpp"

namespace opid {

struct AnswerView {
    int status = 0;
    const StoredFields* headers = nullptr;
    std::string_view body;  // decoded where content-coded and small enough; else empty
    bool body_available = true;
};

struct Classified {
    Verdict verdict = Verdict::unknown;  // never replayed: that is resolved to what the first answer says
    bool provider_replayed = false;      // the provider marked it as its stored first answer
    bool frozen = false;                 // the provider keeps this answer under the key
    bool names_object = false;           // it holds the object, or points to it
    bool key_proven = false;             // it shows that the provider honours the key (key.proof)
    std::string provider_ref;            // as the rule says; else Location, or /id of a JSON body; at most 1 KiB
};

// First matching verdict rule wins, then the classes of core/operation/verdict.hpp.
//
// An answer that a set of body predicates was written for (rules with a body and an outcome verdict: succeeded,
// failed, not_executed, unknown; for this status, or without status for any 2xx) but that none of them matches is
// `unknown`, never a success by default. A rule whose body predicates can't be judged because the body is not
// there makes it `unknown` too. Where the body is no JSON, or names a member twice, no body predicate holds.
//
// GraphQL and JSON-RPC rules without such a set go by their specifications: errors without data (GraphQL), and the
// codes of requests that were never run (JSON-RPC -32700, -32600 to -32602), are `failed`; other errors, data beside
// errors, and MCP's isError are `unknown`. An event stream stands for the last JSON-RPC response in it.
Classified classify(const Rule& rule, const AnswerView& answer);

}  // namespace opid
