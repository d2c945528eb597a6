#include <catch2/catch.hpp>

#include "core/answer/problem.hpp"
#include "core/identity/json_reader.hpp"

using namespace opid;

namespace {

std::string field(const Answer& answer, std::string_view name) {
    for (const auto& [field_name, value] : answer.fields) {
        if (field_name == name) return value;
    }
    return {};
}

Problem mismatch() {
    Problem problem;
    problem.kind = ProblemKind::payload_mismatch;
    problem.detail = "Do not retry \"this\".";
    problem.operation_id = "op-1";
    problem.operation_status = OperationStatus::succeeded;
    problem.differences = {"/amount", "header:stripe-account"};
    problem.members = {{"original", "{\"at\":\"2026-01-01T00:00:00Z\"}"}};
    return problem;
}

}  // namespace

TEST_CASE("a problem in the default dialect has the members that RFC 9457 and real SDKs look for") {
    const Answer answer = render(mismatch(), ProblemDialect::problem, "");
    CHECK(answer.status == 422);
    CHECK(field(answer, "Content-Type") == "application/problem+json; charset=utf-8");
    CHECK(field(answer, "Opid-Problem") == "payload-mismatch");
    CHECK(field(answer, "Cache-Control") == "no-store");
    CHECK(field(answer, "Proxy-Status") == "opid; error=http_request_denied");
    CHECK(field(answer, "X-Should-Retry") == "false");
    CHECK(field(answer, "Stripe-Should-Retry") == "false");
    CHECK(*answer.body ==
          R"({"type":"urn:opid:problem:payload-mismatch","title":"This operation ID names another request",)"
          R"("status":422,"detail":"Do not retry \"this\".","operation_id":"op-1","operation_status":"succeeded",)"
          R"("differences":["/amount","header:stripe-account"],"original":{"at":"2026-01-01T00:00:00Z"},)"
          R"("error":{"type":"opid_error","code":"payload-mismatch","message":"Do not retry \"this\"."},)"
          R"("message":"Do not retry \"this\".","name":"payload-mismatch","statusCode":422})");
}

TEST_CASE("dialects say the same in the shape of their SDK, with a status that ends its retries") {
    const Answer slack = render(mismatch(), ProblemDialect::slack, "");
    CHECK(slack.status == 200);
    CHECK(slack.body->starts_with(R"({"ok":false,"error":"payload-mismatch","detail":)"));
    const Answer graphql = render(mismatch(), ProblemDialect::graphql, "");
    CHECK(graphql.status == 200);
    CHECK(graphql.body->starts_with(R"({"data":null,"errors":[{"message":)"));
    const Answer jsonrpc = render(mismatch(), ProblemDialect::jsonrpc, "\"call-7\"");
    CHECK(jsonrpc.body->starts_with(R"({"jsonrpc":"2.0","id":"call-7","error":{"code":-32000,"message":)"));
    for (const Answer* answer : {&slack, &graphql, &jsonrpc}) {
        CHECK(read_json(*answer->body).has_value());
        CHECK(field(*answer, "Opid-Problem") == "payload-mismatch");
    }
    CHECK(render(mismatch(), ProblemDialect::jsonrpc, "").body->starts_with(R"({"jsonrpc":"2.0","id":null,)"));
}

TEST_CASE("every slug has the status of the contract, and renders as JSON in every dialect") {
    const std::pair<std::string_view, int> contract[] = {{"operation-id-missing", 400},
                                                         {"operation-id-invalid", 400},
                                                         {"payload-mismatch", 422},
                                                         {"operation-in-progress", 409},
                                                         {"outcome-unknown", 504},
                                                         {"needs-review", 423},
                                                         {"not-sent", 502},
                                                         {"approval-required", 403},
                                                         {"approval-expired", 403},
                                                         {"approval-mismatch", 403},
                                                         {"approval-denied", 403},
                                                         {"provider-key-conflict", 422},
                                                         {"answer-not-kept", 410},
                                                         {"not-allowed", 403},
                                                         {"operation-expired", 410},
                                                         {"operation-cancelled", 409},
                                                         {"store-unavailable", 503},
                                                         {"overloaded", 503},
                                                         {"body-too-large", 413},
                                                         {"tenant-unauthenticated", 407},
                                                         {"bad-request", 400},
                                                         {"unknown-provider", 404},
                                                         {"unreachable", 502},
                                                         {"upstream-invalid", 502},
                                                         {"loop", 508},
                                                         {"misdirected", 421},
                                                         {"request-timeout", 408},
                                                         {"target-too-long", 414},
                                                         {"expectation-failed", 417},
                                                         {"head-too-large", 431},
                                                         {"not-implemented", 501},
                                                         {"version", 505}};
    for (const auto& [slug, status] : contract) {
        INFO(slug);
        const auto kind = problem_from_slug(slug);
        REQUIRE(kind);
        CHECK(traits(*kind).status == status);
        Problem problem;
        problem.kind = *kind;
        problem.detail = "x";
        for (const auto dialect :
             {ProblemDialect::problem, ProblemDialect::slack, ProblemDialect::graphql, ProblemDialect::jsonrpc}) {
            CHECK(read_json(*render(problem, dialect, "1").body).has_value());
        }
    }
    CHECK(traits(ProblemKind::tenant_unauthenticated_reverse).status == 401);
    CHECK_FALSE(problem_from_slug("no-such-slug"));
}

TEST_CASE("Retry-After is whole seconds, at least one") {
    Problem problem;
    problem.kind = ProblemKind::outcome_unknown;
    CHECK(field(render(problem, ProblemDialect::problem, ""), "Retry-After") == "1");
    problem.retry_after = Millis{1001};
    CHECK(field(render(problem, ProblemDialect::problem, ""), "Retry-After") == "2");
    problem.retry_after = Millis{-5};
    CHECK(field(render(problem, ProblemDialect::problem, ""), "Retry-After") == "1");
    CHECK(field(render(problem, ProblemDialect::problem, ""), "X-Should-Retry").empty());
}
