#pragma once
// Which response fields belong to the result and are given again, and how a stored answer becomes one for this caller.
#include <string>
#include <string_view>

#include "core/answer/problem.hpp"
#include "core/operation/operation.hpp"

namespace opid {

// True for fields that describe the result; false for hop-by-hop and framing, cookies, authentication challenges,
// rate-limit counters, Date, Retry-After, and opid's own.
bool is_replayed_field(std::string_view name);

// The fields of an answer that the record keeps.
StoredFields fields_to_keep(const StoredFields& received);

// Fields of a provider's answer that must not reach a caller as they are: its own Idempotent-Replayed,
// Opid-Problem and Operation-*.
bool is_withheld_field(std::string_view name);

struct ReplayContext {
    std::string_view accept_encoding;  // joined; absent and "*" accept everything the way RFC 9110 12.5.3 says
    bool accept_encoding_present = false;
    std::string_view jsonrpc_id;  // raw JSON of this request's id; empty: not JSON-RPC
    std::size_t decoded_max = 64u << 20;
    bool marked = true;  // Idempotent-Replayed: true
};

// body: the stored bytes. A content coding that this caller did not accept is undone; a JSON-RPC answer takes the
// new request's id, inside event streams too.
Answer replay_answer(const Operation& operation, std::shared_ptr<const std::string> body, const ReplayContext& context);

// Operation-Id, Operation-Status, Operation-Attempt.
void add_operation_fields(StoredFields& fields, const Operation& operation);

}  // namespace opid
