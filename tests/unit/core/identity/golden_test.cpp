// The canonical encoding is FROZEN: records on disk and approvals hold digests of it. A file that differs means that
// known operations would answer "payload-mismatch" after an update; a wanted change takes a new version line and keeps
// the old one. OPID_GOLDEN=update writes the files.
#include <catch2/catch.hpp>

#include <cstdlib>

#include "base/encoding.hpp"
#include "core/identity/intent.hpp"
#include "vectors.hpp"

using namespace opid;

namespace {

struct Case {
    const char* name;
    Intent intent;
    IntentRules rules;
};

Intent post(const char* path, const char* media_type, std::string body) {
    Intent intent;
    intent.method = "POST";
    intent.scheme_authority = "https://api.example.com";
    intent.path = path;
    intent.media_type = media_type;
    intent.body = std::move(body);
    return intent;
}

IntentRules refund_rules() {
    IntentRules rules;
    rules.ignore = {*JsonPattern::parse("/metadata/trace_id")};
    rules.set = {*JsonPattern::parse("/tags")};
    rules.email = {*JsonPattern::parse("/email")};
    rules.timestamp = {*JsonPattern::parse("/at")};
    rules.headers = {"Stripe-Account"};
    rules.key_carriers = {*parse_key_carrier("body:/idempotency_key")};
    MoneyRule money;
    money.at = *JsonPattern::parse("/amount");
    money.currency = *JsonPattern::parse("/currency");
    rules.money = {money};
    return rules;
}

std::vector<Case> cases() {
    std::vector<Case> list;
    list.push_back({"json",
                    post("/v1/transfers", "application/json",
                         R"({"to":"acct_9","n":[1.0,1e2,-0,9007199254740995,1e400],"meta":{"b":null,"a":true}})"),
                    {}});
    Intent refund = post(
        "/v1/refunds", "application/json; charset=utf-8",
        R"({"amount":1050,"currency":"usd","tags":["b","a"],"email":"A@B.C","at":"2026-03-11T11:00:00+01:00",)"
        R"("metadata":{"trace_id":"t"},"idempotency_key":"k"})");
    refund.query = "?expand=x";
    refund.headers = {{"stripe-account", "acct_1"}};
    list.push_back({"json_with_rules", refund, refund_rules()});
    list.push_back({"duplicate_member", post("/v1/payouts", "application/json", R"({"amount":30,"amount":70})"), {}});
    list.push_back(
        {"form", post("/v1/charges", "application/x-www-form-urlencoded", "b=2&a=x+y%21&b=1&flag&empty="), {}});
    list.push_back({"multipart",
                    post("/upload", "multipart/form-data; boundary=b",
                         "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"r.txt\"\r\n"
                         "Content-Type: text/plain\r\n\r\nhello\r\n--b--\r\n"),
                    {}});
    list.push_back(
        {"jsonrpc",
         post("/mcp", "application/json",
              R"({"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"pay","arguments":{"id":1}}})"),
         {}});
    IntentRules graphql;
    graphql.body_form = BodyForm::graphql;
    list.push_back(
        {"graphql",
         post(
             "/graphql", "application/json",
             R"({"query":"mutation M($a:Int!) {\n  # c\n  pay(a: $a, s: \"x  y\") { id }\n}","variables":{"a":1},"operationName":null})"),
         graphql});
    list.push_back({"raw", post("/blob", "application/octet-stream", std::string("\0\xff\n", 3)), {}});
    Intent coded = post("/blob", "application/json", "{}");
    coded.content_coding = "zstd";
    list.push_back({"unknown_coding", coded, {}});
    Intent empty = post("/v1/things/7/close", "", "");
    empty.method = "DELETE";
    list.push_back({"no_body", empty, {}});
    return list;
}

std::string rendered(const Case& one) {
    const Intent& intent = one.intent;
    std::string text = "request    " + intent.method + " " + intent.scheme_authority + intent.path + intent.query +
                       "\n";
    for (const auto& [name, value] : intent.headers) text += "header     " + name + ": " + value + "\n";
    text += "media type " + intent.media_type + "\ncoding     " + intent.content_coding + "\n";
    text += "body       " + hex(intent.body) + "\n";
    const std::string canonical = canonical_intent(intent, one.rules);
    text += "canonical  " + hex(canonical) + "\n";
    return text + "digest     " + to_hex(digest_of_canonical(canonical)) + "\n";
}

}  // namespace

TEST_CASE("canonical intents and digests are as they always were") {
    const char* mode = std::getenv("OPID_GOLDEN");
    const bool update = mode != nullptr && std::string(mode) == "update";
    for (const auto& one : cases()) {
        const auto path = std::filesystem::path(OPID_SOURCE_DIR) / "tests/golden/canonical" /
                          (std::string(one.name) + ".txt");
        const std::string text = rendered(one);
        if (update) std::ofstream(path, std::ios::binary) << text;
        INFO(path);
        CHECK(test::read_file(path) == text);
    }
}
