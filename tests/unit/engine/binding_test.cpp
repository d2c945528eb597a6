#include <catch2/catch.hpp>

#include <functional>

#include "engine/binding.hpp"
#include "support/sim_world.hpp"

using namespace opid;
using namespace opid::test;

namespace {

GuardedWrite first_write(const ProfilePtr& profile) {
    GuardedWrite write = sim_write(profile, "op-1", R"({"amount":10,"to":"a"})");
    write.intent.query = "?a=1";
    write.intent.headers = {{"x-version", "2"}};
    write.intent.media_type = "application/json; charset=utf-8";
    return write;
}

}  // namespace

TEST_CASE("the same bytes under the same rule repeat the recorded request") {
    const ProfilePtr profile = sim_profile(true);
    const GuardedWrite write = first_write(profile);
    const Operation operation = draft_operation(write, IntentLimits{});
    const GuardedWrite again = first_write(profile);
    const Binding binding(again, IntentLimits{});
    CHECK(repeats(operation, again, binding));
    CHECK(repeats(write, again));
    CHECK(binding.digest() == operation.digest);
    CHECK(binding.raw_digest() == operation.raw_digest);
    CHECK(binding.key() == operation.key);
}

TEST_CASE("credentials in a query are compared, and not recorded") {
    const ProfilePtr profile = sim_profile(true);
    const auto with_query = [&](const std::string& query) {
        GuardedWrite write = first_write(profile);
        write.intent.query = query;
        return write;
    };
    const GuardedWrite write = with_query("?a=1&API_Key=abc&token=&b=2");
    const Operation operation = draft_operation(write, IntentLimits{});
    const std::string& target = operation.intent.target;
    CHECK(target.find("?a=1&API_Key=***") != std::string::npos);
    CHECK(target.find("abc") == std::string::npos);
    CHECK(target.ends_with("&token=&b=2"));
    CHECK(operation.digest == Binding(write, IntentLimits{}).digest());
    CHECK(repeats(operation, write, Binding(write, IntentLimits{})));
    CHECK(veiled(write.intent, operation.key) == recorded_intent(operation, write.intent.body));
    const GuardedWrite other = with_query("?a=1&API_Key=abd&token=&b=2");
    CHECK_FALSE(operation.digest == Binding(other, IntentLimits{}).digest());
    CHECK_FALSE(repeats(operation, other, Binding(other, IntentLimits{})));
    CHECK_FALSE(veiled(other.intent, operation.key) == recorded_intent(operation, write.intent.body));
    CHECK(differ_in_credentials_alone(veiled(other.intent, operation.key),
                                      recorded_intent(operation, write.intent.body)));
    CHECK_FALSE(differ_in_credentials_alone(write.intent, write.intent));
    CHECK_FALSE(differ_in_credentials_alone(write.intent, with_query("?a=2&API_Key=abd&token=&b=2").intent));
    Intent elsewhere = other.intent;
    elsewhere.scheme_authority += ".test";
    CHECK_FALSE(differ_in_credentials_alone(write.intent, elsewhere));
    const GuardedWrite literal = with_query(target.substr(target.find('?')));
    CHECK_FALSE(repeats(operation, literal, Binding(literal, IntentLimits{})));
    CHECK_FALSE(veiled(literal.intent, operation.key) == recorded_intent(operation, write.intent.body));
    CHECK(veiled(with_query("").intent, operation.key) == with_query("").intent);
}

TEST_CASE("whatever differs in one place does not repeat it") {
    const ProfilePtr profile = sim_profile(true);
    const GuardedWrite write = first_write(profile);
    const Operation operation = draft_operation(write, IntentLimits{});
    auto reloaded = std::make_shared<Profile>(*profile);
    reloaded->digest += "x";
    Rule renamed = *write.rule;
    renamed.name = "another";
    const std::vector<std::pair<std::string, std::function<void(GuardedWrite&)>>> changes{
        {"method", [](GuardedWrite& w) { w.intent.method = "PUT"; }},
        {"authority", [](GuardedWrite& w) { w.intent.scheme_authority += ":8443"; }},
        {"path", [](GuardedWrite& w) { w.intent.path += "/"; }},
        {"query", [](GuardedWrite& w) { w.intent.query = "?a=2"; }},
        {"no query", [](GuardedWrite& w) { w.intent.query.clear(); }},
        {"header value", [](GuardedWrite& w) { w.intent.headers.front().second = "3"; }},
        {"one header more", [](GuardedWrite& w) { w.intent.headers.emplace_back("x-more", "1"); }},
        {"no header", [](GuardedWrite& w) { w.intent.headers.clear(); }},
        {"media type", [](GuardedWrite& w) { w.intent.media_type = "application/json"; }},
        {"content coding", [](GuardedWrite& w) { w.intent.content_coding = "identity"; }},
        {"body", [](GuardedWrite& w) { w.intent.body.back() = ' '; }},
        {"body of the same meaning", [](GuardedWrite& w) { w.intent.body = R"({"to":"a","amount":10})"; }},
        {"profile", [&](GuardedWrite& w) { w.profile = reloaded; }},
        {"rule", [&](GuardedWrite& w) { w.rule = &renamed; }},
    };
    for (const auto& [what, change] : changes) {
        INFO(what);
        GuardedWrite other = first_write(profile);
        change(other);
        CHECK_FALSE(repeats(operation, other, Binding(other, IntentLimits{})));
        CHECK_FALSE(repeats(write, other));
    }
}
