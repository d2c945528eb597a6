#include <catch2/catch.hpp>

#include "base/encoding.hpp"
#include "core/answer/jsonrpc_id.hpp"
#include "core/answer/replay_fields.hpp"

using namespace opid;

namespace {

std::string field(const Answer& answer, std::string_view name) {
    for (const auto& [field_name, value] : answer.fields) {
        if (equal_ignoring_case(field_name, name)) return value;
    }
    return {};
}

Operation stored(StoredFields headers, std::string body) {
    Operation operation;
    operation.id = "op-1";
    operation.status = OperationStatus::succeeded;
    Attempt attempt;
    attempt.id = "at_1";
    operation.attempts.push_back(attempt);
    operation.response.emplace();
    operation.response->status = 201;
    operation.response->reason = "Created";
    operation.response->headers = std::move(headers);
    operation.response->body.kept = true;
    operation.response->body.bytes = std::move(body);
    return operation;
}

Answer replay(const Operation& operation, const ReplayContext& context) {
    return replay_answer(operation, std::make_shared<const std::string>(operation.response->body.bytes), context);
}

// gzip of {"id":"r-2"} with a zero time, made by Python's gzip.compress(..., mtime=0).
std::string gzip_body() { return *from_base64("H4sIAAAAAAACA6tWykxRslIq0jVSqgUAiK8HXgwAAAA="); }

}  // namespace

TEST_CASE("what describes the result is kept; what describes the exchange or a session is not") {
    for (const char* name : {"Content-Type", "Location", "ETag", "Request-Id", "X-GitHub-Request-Id", "Stripe-Version",
                             "Content-Language", "Last-Modified", "X-Payment-Reference", "Link"}) {
        INFO(name);
        CHECK(is_replayed_field(name));
    }
    for (const char* name :
         {"Set-Cookie", "WWW-Authenticate", "Proxy-Authenticate", "X-RateLimit-Remaining", "RateLimit-Policy", "Date",
          "Connection", "Keep-Alive", "Transfer-Encoding", "Content-Length", "Retry-After", "Mcp-Session-Id",
          "Idempotent-Replayed", "Opid-Problem", "Operation-Id", "X-Csrf-Token", "Authorization", "Server"}) {
        INFO(name);
        CHECK_FALSE(is_replayed_field(name));
    }
}

TEST_CASE("a replay is marked and carries the operation's fields") {
    const Answer answer = replay(stored({{"Content-Type", "application/json"}}, "{}"), ReplayContext{});
    CHECK(answer.status == 201);
    CHECK(answer.reason == "Created");
    CHECK(field(answer, "Operation-Id") == "op-1");
    CHECK(field(answer, "Operation-Status") == "succeeded");
    CHECK(field(answer, "Operation-Attempt") == "at_1");
    CHECK(field(answer, "Idempotent-Replayed") == "true");
    CHECK(field(answer, "Operation-Recovered").empty());
    Operation found = stored({}, "{}");
    found.response->recovered = true;
    CHECK(field(replay(found, ReplayContext{}), "Operation-Recovered") == "look-up");
}

TEST_CASE("a stored coding that this caller did not accept is undone") {
    const Operation operation = stored({{"Content-Type", "application/json"}, {"Content-Encoding", "gzip"}},
                                       gzip_body());
    const auto with = [&operation](std::string_view accept, bool present) {
        ReplayContext context;
        context.accept_encoding = accept;
        context.accept_encoding_present = present;
        return replay(operation, context);
    };
    for (const char* accept : {"identity", "", "br", "gzip;q=0", "gzip; q=0.0, *;q=0"}) {
        INFO(accept);
        const Answer plain = with(accept, true);
        CHECK(*plain.body == "{\"id\":\"r-2\"}");
        CHECK(field(plain, "Content-Encoding").empty());
    }
    for (const char* accept : {"gzip", "br, GZIP", "*", "gzip;q=0.5"}) {
        INFO(accept);
        const Answer coded = with(accept, true);
        CHECK(*coded.body == gzip_body());
        CHECK(field(coded, "Content-Encoding") == "gzip");
    }
    CHECK(*with("", false).body == gzip_body());
}

TEST_CASE("a replayed JSON-RPC answer takes the id of the request that asks") {
    CHECK(with_jsonrpc_id("application/json", R"({"jsonrpc":"2.0","id":1,"result":{"id":1}})", "\"b-2\"") ==
          R"({"jsonrpc":"2.0","id":"b-2","result":{"id":1}})");
    CHECK(with_jsonrpc_id("application/json", R"({"id":1,"result":2})", "9") == R"({"id":1,"result":2})");
    CHECK(with_jsonrpc_id("text/plain", "id", "9") == "id");
    const std::string stream =
        "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n"
        "id: 4\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{}}\n\n: end\n";
    CHECK(with_jsonrpc_id("text/event-stream", stream, "77") ==
          "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n"
          "id: 4\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":77,\"result\":{}}\n\n: end\n");
    CHECK(read_jsonrpc_id(R"({"jsonrpc":"2.0","id":"a","method":"tools/call"})") == "\"a\"");
    CHECK(read_jsonrpc_id(R"({"jsonrpc":"2.0","method":"notifications/x"})").empty());
    CHECK(read_jsonrpc_id("not json").empty());
}
