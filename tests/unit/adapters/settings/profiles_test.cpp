#include <catch2/catch.hpp>

#include "base/sha256.hpp"
#include "core/profile/recovery_plan.hpp"
#include "loading.hpp"

using namespace opid;

namespace {

ProfilePtr loaded(const std::string& text) {
    const LoadedProfiles result = load_profile_texts({{"p.yaml", text}}, test_sources());
    INFO(to_text(result.problems));
    REQUIRE(result.profiles);
    return result.profiles->all().at(0);
}

std::string value_of(const Predicate& predicate) { return predicate.text(); }

}  // namespace

TEST_CASE("provider and hosts are enough") {
    const std::string text = "provider: p\nhosts: [API.P.test]\n";
    const ProfilePtr p = loaded(text);
    CHECK(p->provider == "p");
    CHECK(p->hosts == std::vector<std::string>{"api.p.test"});
    CHECK(p->upstream_scheme == "https");
    CHECK(p->upstream_authority == "api.p.test");
    CHECK(p->upstream_base_path.empty());
    CHECK(p->verified);
    CHECK(p->digest == to_hex(sha256("opid-intent-1\n" + std::string(text))));
    CHECK(p->file == "p.yaml");
    const Rule& rule = p->default_rule;
    CHECK(rule.name == "default");
    CHECK_FALSE(rule.key.present());
    CHECK(rule.key.stores.text() == "2xx");
    CHECK(rule.identity.missing == MissingIdentity::reject);
    REQUIRE(rule.identity.from.size() == 2);
    CHECK(rule.identity.from[0].is_operation_id());
    CHECK(rule.identity.from[1].name == "Idempotency-Key");
    REQUIRE(rule.recovery.steps.size() == 1);
    CHECK(std::holds_alternative<ReviewStep>(rule.recovery.steps[0]));
}

TEST_CASE("upstreams") {
    const auto upstream = [](const std::string& hosts, const std::string& more) {
        const ProfilePtr p = loaded("provider: p\nhosts: [" + hosts + "]\n" + more);
        return p->upstream_scheme + "://" + p->upstream_authority + p->upstream_base_path + " " + p->upstream_address;
    };
    CHECK(upstream("\"a.test:8443\"", "") == "https://a.test:8443 ");
    CHECK(upstream("\"a.test:443\"", "") == "https://a.test ");
    CHECK(upstream("\"*.a.test\", b.test", "") == "https://b.test ");
    CHECK(upstream("\"*.a.test\"", "") == "https:// ");
    CHECK(upstream("a.test", "upstream: http://B.test:80/base/v1/") == "http://b.test/base/v1 ");
    CHECK(upstream("a.test", "upstream: http://[::1]:9099") == "http://[::1]:9099 ");
    CHECK(upstream("a.test", "upstream_address: \"127.0.0.1:9443\"") == "https://a.test 127.0.0.1:9443");
}

TEST_CASE("the sample of the schema") {
    const ProfilePtr p = loaded(R"(
provider: stripe
hosts: [api.stripe.com]
upstream: https://api.stripe.com
credentials: {header: Authorization, value: env:TOKEN_A, inject: true}
identity: {from: [Operation-Id, Idempotency-Key], missing: reject}
key:
  carrier: header:Idempotency-Key
  encoding: {alphabet: base32hex, length: 32}
  window: {for: 24h, bound: at_least, margin: 10m}
  stores: [2xx, 402, 5xx]
verdicts:
  - {status: 409, body: {/error/code: idempotency_key_in_use}, verdict: in_flight}
  - {header: {Idempotent-Replayed: "true"}, verdict: replayed}
rules:
  - {name: searches, match: {method: POST, path: /v1/*/search}, class: read}
  - name: refund
    match: {method: POST, path: /v1/refunds}
    intent: {ignore: [/metadata/trace_id], set: [/tags], money: [{at: /amount, currency: /currency}],
             headers: [Stripe-Account]}
    approval: required
    mark: {body: /metadata/operation_id}
    verdicts: [{status: 429, verdict: not_executed}]
    recovery:
      - keyed_retry: {attempts: 4, backoff: 2s..30s}
      - look_up: {get: "/v1/refunds?limit=100", items: /data, where: {/metadata/operation_id: "{operation_id}"},
                  result: item, consistent: true, settle: 90s}
      - review: {}
allow: [{method: POST, path: /v1/refunds}]
facts: {source: docs, read: 2026-11-30, confidence: verified}
)");
    REQUIRE(p->credentials);
    CHECK(p->credentials->value.reveal() == "secret-a");
    CHECK(p->credentials->inject);
    REQUIRE(p->rules.size() == 2);
    CHECK(p->rules[0].request_class == RequestClass::read);
    const Rule& refund = p->rules[1];
    CHECK(refund.approval_required);
    CHECK(refund.mark == "/metadata/operation_id");
    CHECK(to_text(refund.key.carrier) == "header:idempotency-key");
    CHECK(refund.key.window.length == Millis{86400000});
    CHECK(refund.key.window.margin == Millis{600000});
    CHECK(refund.recovery.key_window == Millis{85800000});
    REQUIRE(refund.verdicts.size() == 3);
    CHECK(refund.verdicts[0].answer.statuses->text() == "429");
    CHECK(value_of(refund.verdicts[1].answer.body[0].second) == "\"idempotency_key_in_use\"");
    CHECK(refund.intent.headers == std::vector<std::string>{"Stripe-Account"});
    CHECK(refund.intent.key_carriers.size() == 1);
    REQUIRE(refund.recovery.steps.size() == 3);
    CHECK(std::get<KeyedRetryStep>(refund.recovery.steps[0]) == KeyedRetryStep{4, {Millis{2000}, Millis{30000}}});
    CHECK(std::get<LookUpStep>(refund.recovery.steps[1]) == LookUpStep{5, Millis{90000}, true});
    REQUIRE(refund.look_up);
    CHECK(refund.look_up->get == "/v1/refunds?limit=100");
    CHECK(refund.look_up->items == "/data");
    CHECK(p->allow.size() == 1);
    CHECK(p->default_rule.key.present());
}

TEST_CASE("a rule overrides single fields of the key") {
    const ProfilePtr p = loaded(profile_around(R"(
key: {carrier: header:K, window: 2h, stores: [2xx, 400]}
rules:
  - {name: a, match: {path: /a}, key: {carrier: body:/id, encoding: uuid}}
  - {name: b, match: {path: /b}, key: none}
  - {name: c, match: {path: "/c/{id}"}, key: {carrier: "path:{id}", window: {bound: while_object_exists}}}
  - {name: d, match: {path: /d}, key: {window: {for: 10m}, source: caller, quoted: true}}
  - {name: e, match: {graphql: {operation: mutation}}, key: "graphql:input.clientId", repeatable: true, dry_run: true}
  - {name: f, match: {path: /f}, key: none, repeatable: true}
)"));
    CHECK(to_text(p->rules[0].key.carrier) == "body:/id");
    CHECK(p->rules[0].key.encoding.length() == 36);
    CHECK(p->rules[0].key.stores.text() == "2xx, 400");
    CHECK(p->rules[0].key.window.length == Millis{7200000});
    CHECK(p->rules[0].key.window.margin == Millis{600000});
    CHECK_FALSE(p->rules[1].key.present());
    CHECK(p->rules[1].recovery.steps.size() == 1);
    CHECK(p->rules[2].key.carrier.path_glob == "/c/{id}");
    CHECK(p->rules[2].key.window.bound == KeyWindow::Bound::while_object_exists);
    CHECK_FALSE(p->rules[2].recovery.key_window);
    CHECK(p->rules[3].key.window.margin == Millis{60000});
    CHECK(p->rules[3].key.source == KeySource::caller);
    CHECK(p->rules[3].key.quoted);
    CHECK(p->rules[4].key.carrier.pointer.text() == "/variables/input/clientId");
    CHECK(p->rules[4].intent.body_form == BodyForm::graphql);
    CHECK(p->rules[4].recovery.repeatable);
    CHECK(p->rules[4].dry_run);
    CHECK(p->rules[5].recovery.steps.size() == 2);
    CHECK_FALSE(p->rules[5].recovery.has_key);
}

TEST_CASE("window defaults") {
    const auto window = [](const std::string& text) {
        return loaded(profile_around("key: " + text))->default_rule.key.window;
    };
    CHECK(window("header:K").length == Millis{3600000});
    CHECK(window("header:K").margin == Millis{360000});
    CHECK(window("{carrier: header:K, window: forever}").bound == KeyWindow::Bound::forever);
    CHECK(window("{carrier: header:K, window: {bound: unpublished}}").length == Millis{3600000});
    CHECK(window("{carrier: header:K, window: {for: 1d, margin: 0s}}").margin == Millis{0});
}

TEST_CASE("an identity in the request is not part of the intent") {
    const ProfilePtr p = loaded(profile_around(R"(
identity: {from: ["body:/request_id", "query:rid", X-Request-Id], missing: observe}
intent: {headers: [X-Request-Id, X-Account], ignore: [/trace]}
rules: [{name: r, match: {path: /r}, intent: {ignore: [/time], ignore_query: [nonce]}, problems: slack}]
problems: jsonrpc
)"));
    const Rule& rule = p->rules[0];
    CHECK(rule.identity.missing == MissingIdentity::observe);
    CHECK(rule.intent.headers == std::vector<std::string>{"X-Account"});
    REQUIRE(rule.intent.ignore.size() == 3);
    CHECK(rule.intent.ignore[0].text() == "/trace");
    CHECK(rule.intent.ignore[1].text() == "/time");
    CHECK(rule.intent.ignore[2].text() == "/request_id");
    CHECK(rule.intent.ignore_query == std::vector<std::string>{"nonce", "rid"});
    CHECK(rule.problems == ProblemDialect::slack);
    CHECK(p->default_rule.problems == ProblemDialect::jsonrpc);
}

TEST_CASE("predicates keep the type that YAML shows") {
    const ProfilePtr p = loaded(profile_around(R"(
verdicts:
  - status: [400, 5xx]
    body: {/a: true, /b: "true", /c: 402, /d: null, /e: word, /f: present, /g: "present", /h: absent,
           /i: {one_of: [1, "1"]}, /j: {matches: "^x$"}, /k: {absent: true}, /l: {equals: present}, /m: yes, /n: 1.0}
    verdict: unknown
)"));
    std::string text;
    for (const auto& [pointer, predicate] : p->default_rule.verdicts.at(0).answer.body) text += predicate.text() + "|";
    CHECK(text ==
          "true|\"true\"|402|null|\"word\"|present|\"present\"|absent|one_of: [1, \"1\"]|matches: ^x$|absent|"
          "\"present\"|\"yes\"|1.0|");
    CHECK(p->default_rule.verdicts.at(0).answer.statuses->text() == "400, 5xx");
}

TEST_CASE("what is not verified is cautious") {
    const auto verified = [](const std::string& facts) {
        return loaded(profile_around("key: header:K\nfacts: " + facts))->verified;
    };
    CHECK(verified("{confidence: verified}"));
    CHECK_FALSE(verified("{confidence: partial}"));
    CHECK_FALSE(verified("{confidence: unverified}"));
    CHECK(loaded(profile_around("key: header:K\nfacts: {confidence: unverified}"))->default_rule.recovery.cautious);
    CHECK(loaded(profile_around("key: {carrier: header:K, proof: {header: {X-Echo: present}}}"))
              ->default_rule.recovery.cautious);
}

TEST_CASE("marks in forms") {
    const auto mark = [](const std::string& field) {
        return loaded(profile_around("rules: [{match: {path: /a}, mark: {form: \"" + field + "\"}}]"))
            ->rules[0]
            .mark.value();
    };
    CHECK(mark("metadata[operation_id]") == "/metadata/operation_id");
    CHECK(mark("reference") == "/reference");
    CHECK(mark("a/b[c~d]") == "/a~1b/c~0d");
    CHECK(loaded(profile_around("rules: [{match: {path: /a}}]"))->rules[0].name == "rule-1");
}
