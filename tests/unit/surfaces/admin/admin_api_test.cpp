#include <catch2/catch.hpp>

#include "admin_world.hpp"
#include "core/identity/json_reader.hpp"
#include "surfaces/admin/embedded.hpp"

using namespace opid;
using opid::test::AdminWorld;

namespace {

bool has(const AdminReply& reply, std::string_view text) { return reply.body.find(text) != std::string::npos; }

std::string filled(std::string_view pattern) {
    std::string target(pattern);
    const auto at = target.find("{id}");
    if (at != std::string::npos) target.replace(at, 4, "some-id");
    return target;
}

}  // namespace

TEST_CASE("every route asks for its role, before anything else") {
    AdminWorld world;
    for (const AdminApi::Route& route : AdminApi::routes()) {
        INFO(route.method << " " << route.pattern);
        const std::string method(route.method);
        const std::string target = filled(route.pattern);
        const int without = world.call(method, target, "", "").status;
        const int with_wrong = world.call(method, target, "", "nobody").status;
        if (route.role == Role::nobody) {
            CHECK(without == 200);
            continue;
        }
        CHECK(without == 401);
        CHECK(with_wrong == 401);
        CHECK((world.call(method, target, "", "vera").status == 403) == (route.role > Role::viewer));
        CHECK((world.call(method, target, "", "apo").status == 403) == (route.role > Role::approver));
        CHECK(world.call(method, target, "", "otto").status != 403);
    }
}

TEST_CASE("OpenAPI names every route, and no other") {
    const Result<JsonDocument> document = read_json(openapi_json());
    REQUIRE(document);
    REQUIRE_FALSE(document->duplicate_at());
    const auto paths = document->root().member("paths");
    REQUIRE(paths);
    std::size_t named = 0;
    for (auto path = paths->first(); path; path = path->next()) named += path->size();
    CHECK(named == AdminApi::routes().size());
    for (const AdminApi::Route& route : AdminApi::routes()) {
        INFO(route.method << " " << route.pattern);
        const auto path = paths->member(route.pattern);
        REQUIRE(path);
        CHECK(path->member(route.method == "GET" ? "get" : "post"));
    }
}

TEST_CASE("foreign hosts and origins are refused, on every route") {
    AdminWorld world;
    for (const char* target : {"/healthz", "/v1/operations"}) {
        CHECK(world.call("GET", target, "", "otto", "evil.test").status == 403);
        CHECK(world.call("GET", target, "", "otto", "").status == 403);
        CHECK(world.call("GET", target, "", "otto", "127.0.0.1:8081", "http://evil.test").status == 403);
        CHECK(world.call("GET", target, "", "otto", "127.0.0.1:8081", "null").status == 403);
        CHECK(world.call("GET", target, "", "otto", "localhost:9999").status == 200);
        CHECK(world.call("GET", target, "", "otto", "[::1]:8081").status == 200);
        CHECK(world.call("GET", target, "", "otto", "127.0.0.1:8081", "http://127.0.0.1:8081").status == 200);
    }
}

TEST_CASE("unknown paths and methods") {
    AdminWorld world;
    CHECK(world.call("GET", "/v1/nothing").status == 404);
    CHECK(world.call("GET", "/v1/nothing", "", "").status == 401);
    const AdminReply refused = world.call("DELETE", "/v1/operations");
    CHECK(refused.status == 405);
    CHECK(refused.fields.at(1) == std::pair<std::string, std::string>("Allow", "GET, POST"));
    CHECK(world.call("GET", "/v1/operations/%zz").status == 400);
    CHECK(world.call("GET", "/v1/operations/a/b/c").status == 404);
}

TEST_CASE("an operation is found by any spelling of its ID") {
    AdminWorld world;
    for (const char* id : {"plain", "a/b", "a?b", "a%2Fb", "..", "\"", "a&b=c"})
        world.put(id, OperationStatus::prepared);
    const std::pair<const char*, const char*> spelled[] = {{"plain", "plain"},    {"a%2Fb", "a/b"}, {"a%3fb", "a?b"},
                                                           {"a%252Fb", "a%2Fb"},  {"..", ".."},     {"%22", "\\\""},
                                                           {"a%26b%3Dc", "a&b=c"}};
    for (const auto& [spelling, id] : spelled) {
        INFO(spelling);
        const AdminReply reply = world.call("GET", std::string("/v1/operations/") + spelling);
        CHECK(reply.status == 200);
        CHECK(has(reply, "\"id\":\"" + std::string(id) + "\""));
    }
    CHECK(world.call("GET", "/v1/operations/nobody").status == 404);
}

TEST_CASE("an ID that is not unique answers with the candidates") {
    AdminWorld world;
    world.put("both", OperationStatus::prepared, "default", "one");
    world.put("both", OperationStatus::prepared, "default", "two");
    world.put("shared", OperationStatus::prepared, "default");
    world.put("shared", OperationStatus::prepared, "other");
    const AdminReply ambiguous = world.call("GET", "/v1/operations/both");
    CHECK(ambiguous.status == 409);
    CHECK(has(ambiguous, "\"candidates\":[{"));
    CHECK(has(world.call("GET", "/v1/operations/both?provider=two"), "\"provider\":\"two\""));
    CHECK(world.call("GET", "/v1/operations/shared").status == 409);
    CHECK(has(world.call("GET", "/v1/operations/shared?tenant=other"), "\"tenant\":\"other\""));
    CHECK(world.call("GET", "/v1/operations/shared?tenant=nobody").status == 404);
}

TEST_CASE("an operation has the members of the contract") {
    AdminWorld world;
    world.put("shape", OperationStatus::needs_review);
    const AdminReply reply = world.call("GET", "/v1/operations/shape", "", "vera");
    const Result<JsonDocument> document = read_json(reply.body);
    REQUIRE(document);
    for (const char* name : {"id", "tenant", "provider", "rule", "status", "digest", "raw_digest", "intent", "attempts",
                             "provider_key", "provider_ref", "approval", "next_step", "created", "updated"}) {
        INFO(name);
        CHECK(document->root().member(name));
    }
    CHECK(document->root().member("created")->string() == "1970-01-01T00:16:40.000Z");
}

TEST_CASE("resolution: bad bodies change nothing, a good one goes into the history with its actor") {
    AdminWorld world;
    world.put("r", OperationStatus::needs_review);
    for (const char* body :
         {"", "[]", "\"text\"", "null", "{}", R"({"as":"failed"})", R"({"as":"failed","reason":""})",
          R"({"as":"failed","reason":"  "})", R"({"as":"x","reason":"y"})", R"({"as":1,"reason":"y"})",
          R"({"as":"failed","reason":"y","more":1})", R"({"as":"failed","as":"succeeded","reason":"y"})",
          R"({"as":"succeeded","reason":"y","response":[]})",
          R"({"as":"succeeded","reason":"y","response":{"status":99}})",
          R"({"as":"succeeded","reason":"y","response":{"headers":{"a b":"c"}}})",
          R"({"as":"failed","reason":"a\u0000b"})"}) {
        INFO(body);
        CHECK(world.call("POST", "/v1/operations/r/resolution", body).status == 400);
    }
    CHECK(has(world.call("GET", "/v1/operations/r"), "\"status\":\"needs_review\""));
    const AdminReply done = world.call("POST", "/v1/operations/r/resolution",
                                       R"({"as":"not_executed","reason":"asked them on the phone"})");
    CHECK(done.status == 200);
    CHECK(has(done, "\"status\":\"prepared\""));
    const AdminReply history = world.call("GET", "/v1/operations/r/history");
    CHECK(has(history, "asked them on the phone"));
    CHECK(has(history, "otto"));
    CHECK(world.call("POST", "/v1/operations/r/resolution", R"({"as":"failed","reason":"again"})").status == 409);
    CHECK(world.call("POST", "/v1/operations/nobody/resolution", R"({"as":"failed","reason":"x"})").status == 404);
}

TEST_CASE("a resolution may bring the answer that later callers get") {
    AdminWorld world;
    world.put("r", OperationStatus::needs_review);
    const AdminReply done = world.call(
        "POST", "/v1/operations/r/resolution",
        R"({"as":"succeeded","reason":"seen","provider_ref":"re_1","response":{"status":201,"headers":{"Content-Type":"text/plain","Set-Cookie":"a=b"},"body":"yes"}})");
    REQUIRE(done.status == 200);
    CHECK(has(done, "\"status\":\"succeeded\""));
    CHECK(has(done, "\"provider_ref\":\"re_1\""));
    CHECK(has(done, "\"status\":201"));
    CHECK_FALSE(has(done, "Set-Cookie"));
}

TEST_CASE("approval binds the digest that was looked at") {
    AdminWorld world;
    const Operation operation = world.put("a", OperationStatus::awaiting_approval);
    const std::string digest = to_hex(operation.digest);
    CHECK(world.call("POST", "/v1/operations/a/approval", R"({"expires_in":"1h"})", "apo").status == 400);
    CHECK(
        world
            .call("POST", "/v1/operations/a/approval", "{\"digest\":\"" + digest + "\",\"expires_in\":\"soon\"}", "apo")
            .status == 400);
    CHECK(world.call("POST", "/v1/operations/a/approval", R"({"digest":"00","expires_in":"1h"})", "apo").status == 409);
    const AdminReply approved = world.call("POST", "/v1/operations/a/approval",
                                           "{\"digest\":\"" + digest + "\",\"expires_in\":\"90m\"}", "apo");
    CHECK(approved.status == 200);
    CHECK(has(approved, "\"approver\":\"apo\""));
    world.put("d", OperationStatus::awaiting_approval);
    const AdminReply denied = world.call("POST", "/v1/operations/d/denial", R"({"reason":"no"})", "apo");
    CHECK(has(denied, "\"status\":\"cancelled\""));
}

TEST_CASE("cancellation is for what was not sent") {
    AdminWorld world;
    world.put("p", OperationStatus::prepared);
    world.put("s", OperationStatus::succeeded);
    CHECK(has(world.call("POST", "/v1/operations/p/cancellation", R"({"reason":"no"})"), "\"status\":\"cancelled\""));
    CHECK(world.call("POST", "/v1/operations/s/cancellation", R"({"reason":"no"})").status == 409);
    CHECK(world.call("POST", "/v1/operations/p/cancellation", "{}").status == 400);
}

TEST_CASE("a step gets one operation ID for ever") {
    AdminWorld world;
    CHECK(world.call("POST", "/v1/operations", R"({"step":"run-81/step-4"})").status == 400);  // two tenants: which?
    const AdminReply first = world.call("POST", "/v1/operations", R"({"tenant":"default","step":"run-81/step-4"})");
    REQUIRE(first.status == 200);
    CHECK(has(first, "\"operation_id\":\"op_"));
    CHECK(world.call("POST", "/v1/operations", R"({"tenant":"default","step":"run-81/step-4"})").body == first.body);
    CHECK(world.call("POST", "/v1/operations", R"({"tenant":"other","step":"run-81/step-4"})").body != first.body);
    CHECK(world.call("POST", "/v1/operations", R"({"tenant":"nobody","step":"x"})").status == 400);
    CHECK(world.call("POST", "/v1/operations", R"({"tenant":"default","step":"a b"})").status == 400);
    CHECK(world.call("POST", "/v1/operations", R"({"tenant":"default","method":"POST"})").status == 501);
}

TEST_CASE("lists filter and page") {
    AdminWorld world;
    for (int i = 0; i < 5; ++i) world.put("p" + std::to_string(i), OperationStatus::prepared);
    world.put("n", OperationStatus::needs_review);
    CHECK(has(world.call("GET", "/v1/operations?status=needs_review"), "\"id\":\"n\""));
    CHECK_FALSE(has(world.call("GET", "/v1/operations?status=needs_review"), "\"id\":\"p0\""));
    CHECK(world.call("GET", "/v1/operations?provider=nobody").body == R"({"operations":[],"cursor":null})");
    CHECK_FALSE(has(world.call("GET", "/v1/operations?limit=2"), "\"cursor\":null"));
    for (const char* bad :
         {"status=x", "since=yesterday", "limit=0", "limit=x", "since=2026-13-01", "since=2026-01-01T99:00:00Z"}) {
        INFO(bad);
        CHECK(world.call("GET", std::string("/v1/operations?") + bad).status == 400);
    }
    CHECK(world.call("GET", "/v1/operations?since=2026-11-30T10:00:00Z").body == R"({"operations":[],"cursor":null})");
}

TEST_CASE("reload, sweep, backup, readiness") {
    AdminWorld world;
    CHECK(world.call("POST", "/v1/policies/reload").body == R"({"profiles":2})");
    CHECK(world.host.reloaded_by == "otto");
    world.host.reload = ReloadReport{false, 0, {"bad.yaml:2: provider: missing"}};
    const AdminReply refused = world.call("POST", "/v1/policies/reload");
    CHECK(refused.status == 422);
    CHECK(has(refused, "bad.yaml:2"));
    CHECK(world.call("POST", "/v1/store/sweep").body == R"({"retired":3,"forgotten":4})");
    CHECK(world.call("POST", "/v1/store/backup", R"({"folder":"relative"})").status == 400);
    CHECK(world.call("POST", "/v1/store/backup", R"({"folder":"/copies"})").body ==
          R"({"result":"copied to /copies"})");
    CHECK(world.call("GET", "/readyz", "", "").status == 200);
    world.host.ready = Readiness{false, "draining"};
    CHECK(world.call("GET", "/readyz", "", "").status == 503);
    CHECK(world.call("GET", "/healthz", "", "").status == 200);
    CHECK(world.call("POST", "/v1/operations/x/recovery").status == 404);
    world.put("x", OperationStatus::unknown);
    CHECK(world.call("POST", "/v1/operations/x/recovery").status == 501);
}
