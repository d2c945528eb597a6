#include <catch2/catch.hpp>

#include "adapters/system/system_timers.hpp"
#include "app/settings_mapping.hpp"

using namespace opid;

TEST_CASE("every bound of the settings reaches its part") {
    Settings s;
    s.data = "/data";
    s.limits.request_body = 1;
    s.limits.memory_body = 2;
    s.limits.stored_response = 3;
    s.limits.body_memory = 4;
    s.limits.connections = 5;
    s.limits.guarded = 6;
    s.limits.head = 7;
    s.limits.fields = 8;
    s.limits.target = 9;
    s.limits.chunk_extensions = 10;
    s.limits.trailers = 11;
    s.limits.interim = 12;
    s.limits.kept_response = 13;
    s.limits.decoded_body = 14;
    s.limits.waiters = 15;
    s.limits.admin_body = 16;
    s.limits.events = 17;
    s.limits.store_queue = 18;
    s.limits.disk_reserve = 19;
    s.timeouts.head = Millis{21};
    s.timeouts.idle = Millis{22};
    s.timeouts.body_stall = Millis{23};
    s.timeouts.drain = Millis{24};
    s.timeouts.connect = Millis{25};
    s.timeouts.tls = Millis{26};
    s.timeouts.upstream_response = Millis{27};
    s.timeouts.recovery = Millis{28};
    s.timeouts.wait = Millis{29};
    s.timeouts.wait_max = Millis{30};
    s.timeouts.lease = Millis{31};
    s.via = "other";
    s.threads = 3;
    const auto plane = data_plane_options(s);
    REQUIRE(plane);
    CHECK(plane->limits.request_body == 1);
    CHECK(plane->limits.memory_body == 2);
    CHECK(plane->limits.stored_response == 3);
    CHECK(plane->limits.bodies_in_flight == 4);
    CHECK(plane->limits.connections == 5);
    CHECK(plane->limits.guarded_in_flight == 6);
    CHECK(plane->limits.head.head_bytes == 7);
    CHECK(plane->limits.head.fields == 8);
    CHECK(plane->limits.head.target_bytes == 9);
    CHECK(plane->limits.head.chunk_extension_bytes == 10);
    CHECK(plane->limits.head.trailer_bytes == 11);
    CHECK(plane->limits.head.interim_responses == 12);
    CHECK(plane->timeouts.head == Millis{21});
    CHECK(plane->timeouts.idle == Millis{22});
    CHECK(plane->timeouts.body_stall == Millis{23});
    CHECK(plane->timeouts.drain == Millis{24});
    CHECK(plane->via == "other");
    CHECK(plane->threads == 3);
    CHECK(rocks_options(s, "n", SystemTimers{}).low_disk_bytes == 19);
    CHECK(plane->spool_directory == "/data/spool");
    const EngineLimits engine = engine_limits(s);
    CHECK(engine.kept_response == 13);
    CHECK(engine.decoded_body == 14);
    CHECK(engine.waiters_per_operation == 15);
    CHECK(engine.upstream_response == Millis{27});
    CHECK(engine.recovery == Millis{28});
    CHECK(engine.wait == Millis{29});
    CHECK(engine.wait_max == Millis{30});
    CHECK(engine.lease == Millis{31});
    CHECK(outbound_options(s).timeouts.connect == Millis{25});
    CHECK(outbound_options(s).timeouts.tls == Millis{26});
    CHECK(admin_server_options(s).body_max == 16);
    CHECK(admin_server_options(s).event_clients_max == 17);
}

TEST_CASE("addresses, tenants and tokens") {
    Settings s;
    s.listen.proxy = HostPort{"::1", 1};
    s.listen.providers = {{"stripe", HostPort{"localhost", 2}}};
    s.tenants.push_back(TenantSettings{"a", {Secret("t1"), Secret("t2")}});
    s.admin_tokens.push_back(AdminToken{"vera", AdminRole::viewer, Secret("v")});
    const auto plane = data_plane_options(s);
    REQUIRE(plane);
    CHECK(plane->proxy.ip.to_string() == "::1");
    CHECK(plane->providers.at(0).second.ip.to_string() == "127.0.0.1");
    CHECK(plane->tenants.at(0).tokens == std::vector<Digest>{sha256("t1"), sha256("t2")});
    CHECK(tenant_names(s) == std::vector<std::string>{"a"});
    CHECK(tenant_names(Settings{}) == std::vector<std::string>{"default"});
    const auto identities = admin_identities(s, Secret("file"));
    REQUIRE(identities.size() == 2);
    CHECK(identities[0].role == Role::operator_);
    CHECK(identities[0].token == sha256("file"));
    CHECK(identities[1].name == "vera");
    CHECK(identities[1].role == Role::viewer);
    s.listen.proxy.host = "proxy.example";
    CHECK_FALSE(data_plane_options(s));
}
