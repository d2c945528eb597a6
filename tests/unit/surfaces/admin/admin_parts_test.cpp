#include <catch2/catch.hpp>

#include "admin_world.hpp"
#include "surfaces/admin/admin_query.hpp"
#include "surfaces/admin/event_feed.hpp"
#include "surfaces/admin/host_check.hpp"

using namespace opid;

TEST_CASE("only a whole bearer token names an identity") {
    const std::vector<AdminIdentity> identities{opid::test::identity("vera", Role::viewer)};
    for (const char* good : {"Bearer token-of-vera", "bearer token-of-vera", "BEARER  token-of-vera "}) {
        INFO(good);
        CHECK(authenticate(good, identities) == &identities[0]);
    }
    for (const char* bad : {"", "Bearer", "Bearer ", "Basic token-of-vera", "token-of-vera", "Bearer token-of-ver",
                            "Bearer token-of-veraa", "Bearer token-of-vera, Bearer x"}) {
        INFO(bad);
        CHECK(authenticate(bad, identities) == nullptr);
    }
    CHECK(authenticate("Bearer " + std::string(5000, 'a'), identities) == nullptr);
    CHECK(authenticate("Bearer token-of-vera", {}) == nullptr);
}

TEST_CASE("which hosts are ours") {
    const AdminAddress loopback{"127.0.0.1", 8081};
    for (const char* good : {"127.0.0.1:8081", "127.0.0.1", "localhost", "LOCALHOST:1", "[::1]:8081", "127.9.9.9"}) {
        INFO(good);
        CHECK(host_is_ours(good, loopback));
    }
    for (const char* bad :
         {"", "evil.test", "localhost.evil.test", "10.0.0.1", "127.0.0.1.evil.test", "user@localhost", "a b"}) {
        INFO(bad);
        CHECK_FALSE(host_is_ours(bad, loopback));
    }
    CHECK(host_is_ours("10.0.0.1:8081", {"10.0.0.1", 8081}));
    CHECK(host_is_ours("10.0.0.1:8081", {"0.0.0.0", 8081}));
    CHECK_FALSE(host_is_ours("evil.test", {"0.0.0.0", 8081}));
    CHECK(origin_is_ours("", "localhost"));
    CHECK(origin_is_ours("https://LOCALHOST:8081", "localhost:8081"));
    CHECK_FALSE(origin_is_ours("http://localhost:8082", "localhost:8081"));
    CHECK_FALSE(origin_is_ours("null", "localhost"));
}

TEST_CASE("targets are decoded once") {
    const auto target = parse_admin_target("/v1/operations/a%2Fb%2520?x=1+2&y=%26&flag&x=3");
    REQUIRE(target);
    CHECK(target->segments == std::vector<std::string>{"v1", "operations", "a/b%20"});
    CHECK(target->value("x") == "1 2");
    CHECK(target->value("y") == "&");
    CHECK(target->value("flag").empty());
    for (const char* bad : {"", "v1", "/%", "/%1", "/%g0", "/a?b=%", "*"}) {
        INFO(bad);
        CHECK_FALSE(parse_admin_target(bad));
    }
}

TEST_CASE("the event feed keeps nothing until somebody watches, and then a bounded ring") {
    EventFeed feed;
    SystemTimers timers;
    Operation operation;
    operation.id = "x";
    HistoryEvent event;
    event.what = "claimed";
    feed.moved(operation, event);
    CHECK(feed.watch() == 0);
    feed.moved(operation, event);
    FeedBatch batch = opid::test::run(feed.next(0, timers, Millis{0}));
    REQUIRE(batch.events.size() == 1);
    CHECK(batch.events[0].number == 1);
    CHECK(batch.events[0].json.find("\"operation_id\":\"x\"") != std::string::npos);
    CHECK_FALSE(batch.missed);
    batch = opid::test::run(feed.next(1, timers, Millis{1}));
    CHECK(batch.events.empty());
    for (std::size_t i = 0; i < EventFeed::ring_events + 10; ++i) feed.trouble("store", "full");
    batch = opid::test::run(feed.next(1, timers, Millis{0}));
    CHECK(batch.missed);
    CHECK(batch.events.size() == EventFeed::batch_events);
    CHECK(feed.watch() == EventFeed::ring_events + 11);
}
