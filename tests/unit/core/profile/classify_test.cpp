#include <catch2/catch.hpp>

#include <map>

#include "core/profile/classify.hpp"

using namespace opid;

namespace {

VerdictRule verdict(std::vector<std::string> statuses, std::vector<std::pair<std::string, Predicate>> body,
                    Verdict word) {
    VerdictRule made;
    if (!statuses.empty()) made.answer.statuses = *StatusSet::parse(statuses);
    made.answer.body = std::move(body);
    made.verdict = word;
    return made;
}

Classified classified(const Rule& rule, int status, std::string_view body, StoredFields headers = {},
                      bool available = true) {
    AnswerView view;
    view.status = status;
    view.headers = &headers;
    view.body = body;
    view.body_available = available;
    return classify(rule, view);
}

std::string word(const Rule& rule, int status, std::string_view body = {}, StoredFields headers = {},
                 bool available = true) {
    return std::string(to_word(classified(rule, status, body, std::move(headers), available).verdict));
}

Rule keyed() {
    Rule rule;
    rule.key.carrier = *parse_key_carrier("header:Idempotency-Key");
    rule.key.stores = *StatusSet::parse({"2xx", "402", "5xx"});
    return rule;
}

Predicate is(std::string json) { return Predicate::equals(std::move(json)); }

}  // namespace

TEST_CASE("the default class of every status") {
    std::map<int, std::string> expected;
    for (int status = 200; status <= 299; ++status) expected[status] = "succeeded";
    expected[303] = "succeeded";
    for (const int status : {400, 402, 404, 405, 406, 410, 411, 413, 414, 415, 422, 451}) expected[status] = "failed";
    for (const int status : {307, 308, 401, 403, 407, 421, 425, 429}) expected[status] = "not_executed";
    const Rule rule;
    for (int status = 100; status <= 599; ++status) {
        const std::string wanted = expected.count(status) ? expected[status] : "unknown";
        INFO(status);
        CHECK(word(rule, status) == wanted);
    }
    CHECK(word(rule, 0) == "unknown");
    CHECK(word(rule, 999) == "unknown");
}

TEST_CASE("a predicate set leaves nothing to chance") {
    Rule slack;
    slack.verdicts = {verdict({"200"}, {{"/ok", is("true")}}, Verdict::succeeded),
                      verdict({"200"}, {{"/error", Predicate::one_of({"\"ratelimited\"", "\"channel_not_found\""})}},
                              Verdict::not_executed)};
    CHECK(word(slack, 200, R"({"ok":true,"ts":"1.1"})") == "succeeded");
    CHECK(word(slack, 200, R"({"ok":"true"})") == "unknown");
    CHECK(word(slack, 200, R"({"ok":false,"error":"ratelimited"})") == "not_executed");
    CHECK(word(slack, 200, R"({"ok":false,"error":"internal_error"})") == "unknown");
    CHECK(word(slack, 200, R"({"ok":true,"ok":true})") == "unknown");
    CHECK(word(slack, 200, "<html>") == "unknown");
    CHECK(word(slack, 200, "") == "unknown");
    CHECK(word(slack, 200, "", {}, false) == "unknown");
    CHECK(word(slack, 201, "{}") == "succeeded");  // the set was written for 200
    CHECK(word(slack, 404, "{}") == "failed");
    CHECK(word(slack, 429, "") == "not_executed");

    Rule anywhere;  // without a status the set is meant for successes
    anywhere.verdicts = {verdict({}, {{"/ok", is("true")}}, Verdict::succeeded)};
    CHECK(word(anywhere, 200, "{}") == "unknown");
    CHECK(word(anywhere, 429, "{}") == "not_executed");
    CHECK(word(anywhere, 500, R"({"ok":true})") == "succeeded");
}

TEST_CASE("absent does not hold on a body that can't be read") {
    Rule rule;
    rule.verdicts = {verdict({"200"}, {{"/errors", Predicate::absent()}}, Verdict::succeeded)};
    CHECK(word(rule, 200, "{}") == "succeeded");
    CHECK(word(rule, 200, "") == "unknown");
    CHECK(word(rule, 200, "<html>") == "unknown");
}

TEST_CASE("words about the key are no predicate set") {
    Rule rule = keyed();
    rule.verdicts = {verdict({"409"}, {{"/error/code", is("\"idempotency_key_in_use\"")}}, Verdict::in_flight),
                     verdict({"400"}, {{"/error/type", is("\"idempotency_error\"")}}, Verdict::mismatch)};
    CHECK(word(rule, 409, R"({"error":{"code":"idempotency_key_in_use"}})") == "in_flight");
    CHECK(word(rule, 409, R"({"error":{"code":"lock_timeout"}})") == "unknown");
    CHECK(word(rule, 400, R"({"error":{"type":"idempotency_error"}})") == "mismatch");
    CHECK(word(rule, 400, R"({"error":{"type":"card_error"}})") == "failed");
    CHECK(word(rule, 400, "", {}, false) == "unknown");  // it might be the mismatch
    CHECK(word(rule, 402, "", {}, false) == "failed");
}

TEST_CASE("a replayed answer is read as the stored first one") {
    Rule rule = keyed();
    VerdictRule replayed;
    replayed.answer.header = {{"Idempotent-Replayed", is("\"true\"")}};
    replayed.verdict = Verdict::replayed;
    rule.verdicts = {replayed, verdict({"402"}, {}, Verdict::failed)};
    const StoredFields marked{{"idempotent-replayed", "true"}};
    const Classified good = classified(rule, 200, R"({"id":"re_1"})", marked);
    CHECK(good.verdict == Verdict::succeeded);
    CHECK(good.provider_replayed);
    CHECK(good.frozen);
    CHECK(good.provider_ref == "re_1");
    CHECK(word(rule, 402, "{}", marked) == "failed");
    const Classified broken = classified(rule, 500, "{}", marked);
    CHECK(broken.verdict == Verdict::unknown);
    CHECK(broken.provider_replayed);
    const Classified validation = classified(rule, 404, "{}", marked);
    CHECK(validation.frozen);  // the marker says so, whatever `stores` says
    CHECK_FALSE(classified(rule, 404, "{}").frozen);
    CHECK(classified(rule, 500, "{}").frozen);
    CHECK_FALSE(classified(rule, 500, "{}").provider_replayed);
    CHECK_FALSE(classified(Rule{}, 200, "{}", marked).frozen);  // without a key nothing is frozen
}

TEST_CASE("a duplicate with and without the object") {
    Rule rule;
    rule.verdicts = {verdict({"409"}, {}, Verdict::duplicate)};
    CHECK(classified(rule, 409, R"({"id":"p_1","amount":1})").names_object);
    CHECK(classified(rule, 409, R"({"id":"p_1","amount":1})").provider_ref == "p_1");
    CHECK_FALSE(classified(rule, 409, R"({"id":"already_exists","message":"exists"})").names_object);
    CHECK_FALSE(classified(rule, 409, R"({"error":"exists"})").names_object);
    CHECK_FALSE(classified(rule, 409, "").names_object);
    const Classified located = classified(rule, 409, R"({"error":"exists"})", {{"Location", "/p/1"}});
    CHECK(located.names_object);
    CHECK(located.provider_ref == "/p/1");

    Rule pointing;
    VerdictRule points = verdict({"409"}, {{"/error/type", is("\"exists\"")}}, Verdict::duplicate);
    points.reference = ReferenceSource{ReferenceSource::Kind::body, "/error/links/id"};
    pointing.verdicts = {points};
    CHECK(classified(pointing, 409, R"({"error":{"type":"exists","links":{"id":7}}})").provider_ref == "7");
    CHECK_FALSE(classified(pointing, 409, R"({"error":{"type":"exists"},"id":"x"})").names_object);
    CHECK(word(pointing, 409, R"({"error":{"type":"other"}})") == "unknown");

    Rule holding;
    VerdictRule holds = verdict({"409"}, {}, Verdict::duplicate);
    holds.object = "/existing";
    holding.verdicts = {holds};
    const Classified held = classified(holding, 409, R"({"message":"exists","existing":{"id":"e_1"}})");
    CHECK(held.names_object);
    CHECK(held.provider_ref == "e_1");
    CHECK_FALSE(classified(holding, 409, R"({"message":"exists","id":"x"})").names_object);
}

TEST_CASE("the provider's reference of a success") {
    Rule rule;
    CHECK(classified(rule, 201, R"({"id":7})", {{"location", "/x/7"}}).provider_ref == "/x/7");
    CHECK(classified(rule, 201, R"({"id":7})").provider_ref == "7");
    CHECK(classified(rule, 201, R"({"id":{"a":1}})").provider_ref.empty());
    CHECK(classified(rule, 201, "no JSON").provider_ref.empty());
    CHECK(classified(rule, 201, R"({"id":")" + std::string(2000, 'x') + R"("})").provider_ref.empty());
    CHECK(classified(rule, 201, "{\"id\":\"a\\nb\"}").provider_ref.empty());
    CHECK(classified(rule, 500, R"({"id":7})").provider_ref.empty());
    rule.reference = ReferenceSource{ReferenceSource::Kind::header, "X-Ref"};
    CHECK(classified(rule, 201, R"({"id":7})", {{"x-ref", "r"}}).provider_ref == "r");
}

TEST_CASE("GraphQL answers without a set of their own") {
    Rule rule;
    rule.match.graphql = GraphqlMatch{"mutation", ""};
    CHECK(word(rule, 200, R"({"data":{"a":1}})") == "succeeded");
    CHECK(word(rule, 200, R"({"data":{"a":1},"errors":[]})") == "succeeded");
    CHECK(word(rule, 200, R"({"errors":[{"message":"parse"}]})") == "failed");
    CHECK(word(rule, 200, R"({"data":null,"errors":[{}]})") == "unknown");
    CHECK(word(rule, 200, R"({"data":{"a":1},"errors":[{}]})") == "unknown");
    CHECK(word(rule, 200, R"({"data":null})") == "unknown");
    CHECK(word(rule, 200, "<html>") == "unknown");
    CHECK(word(rule, 200, "", {}, false) == "unknown");
    CHECK(word(rule, 400, R"({"errors":[{}]})") == "failed");
    CHECK(word(rule, 502, "") == "unknown");
    rule.verdicts = {verdict({"200"}, {{"/errors", Predicate::absent()}}, Verdict::succeeded)};
    CHECK(word(rule, 200, R"({"errors":[{}]})") == "unknown");
}

TEST_CASE("JSON-RPC answers, plain and in an event stream") {
    Rule rule;
    rule.match.jsonrpc = JsonRpcMatch{"tools/call", ""};
    CHECK(word(rule, 200, R"({"id":1,"result":{}})") == "succeeded");
    CHECK(word(rule, 200, R"({"id":1,"result":{"isError":true}})") == "unknown");
    CHECK(word(rule, 200, R"({"id":1,"error":{"code":-32602}})") == "failed");
    CHECK(word(rule, 200, R"({"id":1,"error":{"code":-32603}})") == "unknown");
    CHECK(word(rule, 200, "{}") == "unknown");
    CHECK(word(rule, 202) == "succeeded");
    CHECK(word(rule, 200) == "unknown");
    const StoredFields stream{{"Content-Type", "text/event-stream; charset=utf-8"}};
    CHECK(word(rule, 200, "event: message\r\ndata: {\"method\":\"progress\"}\r\n\r\ndata: {\"result\":\ndata: {}}\n\n",
               stream) == "succeeded");
    CHECK(word(rule, 200, "data: {\"error\":{\"code\":-32601}}\n\n: done\n\n", stream) == "failed");
    CHECK(word(rule, 200, "data: {\"method\":\"progress\"}\n\n", stream) == "unknown");
}

TEST_CASE("proof that a key is honoured") {
    Rule rule = keyed();
    CHECK_FALSE(classified(rule, 200, "{}").key_proven);
    rule.key.proof.emplace();
    rule.key.proof->header = {{"Idempotency-Key", Predicate::present()}};
    CHECK(classified(rule, 200, "{}", {{"idempotency-key", "k"}}).key_proven);
    CHECK_FALSE(classified(rule, 200, "{}").key_proven);
}
