#include <catch2/catch.hpp>

#include "engine/binding.hpp"
#include "engine/outbound.hpp"
#include "support/sim_world.hpp"

using namespace opid;
using namespace opid::test;

namespace {

GuardedWrite keyed_write(const ProfilePtr& profile) {
    GuardedWrite write = sim_write(profile, "op-1", "{\"a\":1}");
    write.fields = "Idempotency-Key: theirs\r\nX-A: 1\r\nidempotency-key: again\r\n";
    return write;
}

Operation recorded(std::uint32_t generation) {
    Operation operation;
    operation.tenant = "default";
    operation.id = "op-1";
    operation.provider = "sim";
    operation.key_generation = generation;
    return operation;
}

}  // namespace

TEST_CASE("exactly one key line leaves, in place of whatever the client sent") {
    const ProfilePtr profile = sim_profile(true);
    const GuardedWrite write = keyed_write(profile);
    std::string storage;
    const auto request = outbound_request(write, "k-1", storage);
    REQUIRE(request);
    CHECK(request->fields == "X-A: 1\r\nidempotency-key: k-1\r\n");
    CHECK(request->body == "{\"a\":1}");
    CHECK(request->target == "/v1/things");
}

TEST_CASE("a resend has the recorded payload and the retry's credentials") {
    const ProfilePtr profile = sim_profile(true);
    GuardedWrite first = keyed_write(profile);
    first.intent.media_type = "application/json";
    const Operation operation = draft_operation(first, IntentLimits{});
    GuardedWrite retry = keyed_write(profile);
    retry.intent.body = "{ \"a\" : 1 }";
    retry.intent.media_type = "application/json; charset=utf-8";
    retry.fields =
        "Authorization: fresh\r\nContent-Type: application/json; charset=utf-8\r\n"
        "Content-Encoding: gzip\r\n";
    const GuardedWrite sent = as_recorded(retry, operation, operation.intent.body.bytes);
    CHECK(sent.intent == first.intent);
    CHECK(sent.fields == "Authorization: fresh\r\nContent-Type: application/json\r\n");

    first.intent.query = "?token=old";
    retry.intent.query = "?token=new";
    const Operation keyed_in_query = draft_operation(first, IntentLimits{});
    CHECK(as_recorded(retry, keyed_in_query, first.intent.body).intent.query == "?token=new");
}

TEST_CASE("a provider without keys gets the client's fields as they came and no key") {
    const ProfilePtr profile = sim_profile(false);
    const GuardedWrite write = keyed_write(profile);
    CHECK(provider_key_for(write, recorded(0)).empty());
    std::string storage;
    CHECK(outbound_request(write, "", storage)->fields == write.fields);
}

TEST_CASE("the key is the recorded one, else derived for tenant, provider, operation and generation") {
    const ProfilePtr profile = sim_profile(true);
    const GuardedWrite write = keyed_write(profile);
    const std::string first = provider_key_for(write, recorded(0));
    CHECK(first.size() == 32);
    CHECK(provider_key_for(write, recorded(0)) == first);
    CHECK(provider_key_for(write, recorded(1)) != first);
    Operation other = recorded(0);
    other.tenant = "other";
    CHECK(provider_key_for(write, other) != first);
    Operation kept = recorded(5);
    kept.provider_key = "as-recorded";
    CHECK(provider_key_for(write, kept) == "as-recorded");
}

TEST_CASE("key.source caller keeps the caller's first key where it fits") {
    auto profile = std::make_shared<Profile>(*sim_profile(true));
    profile->default_rule.key.source = KeySource::caller;
    GuardedWrite write = keyed_write(profile);
    write.caller_keys = {"theirs"};
    CHECK(provider_key_for(write, recorded(0)) == "theirs");
    write.caller_keys = {"theirs", "again"};
    CHECK(provider_key_for(write, recorded(0)) != "theirs");
    write.caller_keys = {std::string(300, 'x')};
    CHECK(provider_key_for(write, recorded(0)).size() == 32);
}

TEST_CASE("a key that can't be placed stops the send") {
    auto profile = std::make_shared<Profile>(*sim_profile(true));
    profile->default_rule.key.carrier = *parse_key_carrier("body:/key");
    GuardedWrite write = sim_write(profile, "op-1", "not json");
    std::string storage;
    CHECK_FALSE(outbound_request(write, "k-1", storage));
    write.intent.body = "{\"a\":1}";
    const auto placed = outbound_request(write, "k-1", storage);
    REQUIRE(placed);
    CHECK(placed->body == "{\"a\":1,\"key\":\"k-1\"}");
}
