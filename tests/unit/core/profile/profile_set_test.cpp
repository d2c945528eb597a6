#include <catch2/catch.hpp>

#include "core/profile/profile_set.hpp"

using namespace opid;

namespace {

ProfilePtr profile(std::string name, std::vector<std::string> hosts) {
    Profile made;
    made.provider = std::move(name);
    made.hosts = std::move(hosts);
    return std::make_shared<const Profile>(std::move(made));
}

std::string at(const ProfileSet& set, std::string_view host, std::uint16_t port) {
    const ProfilePtr found = set.by_host(host, port);
    return found ? found->provider : "none";
}

}  // namespace

TEST_CASE("hosts are found exactly, by port, and by wildcard") {
    const ProfileSet set({profile("stripe", {"api.stripe.com"}), profile("odd", {"api.stripe.com:8443", "[::1]:9000"}),
                          profile("shops", {"*.shops.test"}), profile("big", {"big.shops.test", "*.eu.shops.test"}),
                          profile("local", {"127.0.0.1:9099"})});
    CHECK(at(set, "api.stripe.com", 443) == "stripe");
    CHECK(at(set, "api.stripe.com", 80) == "stripe");
    CHECK(at(set, "api.stripe.com", 8443) == "odd");
    CHECK(at(set, "xapi.stripe.com", 443) == "none");
    CHECK(at(set, "stripe.com", 443) == "none");
    CHECK(at(set, "::1", 9000) == "odd");
    CHECK(at(set, "::1", 9001) == "none");
    CHECK(at(set, "a.shops.test", 443) == "shops");
    CHECK(at(set, "a.b.shops.test", 443) == "shops");
    CHECK(at(set, "shops.test", 443) == "none");
    CHECK(at(set, ".shops.test", 443) == "none");
    CHECK(at(set, "big.shops.test", 443) == "big");
    CHECK(at(set, "x.eu.shops.test", 443) == "big");
    CHECK(at(set, "eu.shops.test", 443) == "shops");
    CHECK(at(set, "127.0.0.1", 9099) == "local");
    CHECK(at(set, "127.0.0.1", 443) == "none");
    CHECK(at(set, "", 443) == "none");
    CHECK(set.by_name("shops")->provider == "shops");
    CHECK_FALSE(set.by_name("nobody"));
    CHECK_FALSE(ProfileSet().by_host("a", 1));
    CHECK(set.all().size() == 5);
}

TEST_CASE("covers agrees with the look-up") {
    const ProfilePtr shops = profile("shops", {"*.shops.test", "shops.test:8080"});
    CHECK(shops->covers("a.shops.test", 443));
    CHECK(shops->covers("shops.test", 8080));
    CHECK_FALSE(shops->covers("shops.test", 443));
    CHECK_FALSE(shops->covers("ashops.test", 443));
    CHECK_FALSE(shops->covers(".shops.test", 443));
}

TEST_CASE("keys that a caller chose, and keys in quotes") {
    KeyRule key;
    CHECK_FALSE(key.present());
    key.min_length = 4;
    key.max_length = 8;
    CHECK(key.fits("abcd"));
    CHECK_FALSE(key.fits("abc"));
    CHECK_FALSE(key.fits("abcdefghi"));
    CHECK_FALSE(key.fits("ab cd"));
    CHECK_FALSE(key.fits("ab\xC3\xA4"));
    CHECK(key.wire_key("k1") == "k1");
    key.quoted = true;
    CHECK(key.wire_key("k1") == "\"k1\"");
    CHECK(key.wire_key("a\"b\\c") == "\"a\\\"b\\\\c\"");
    CHECK(IdentitySource{IdentitySource::Kind::header, "operation-ID"}.is_operation_id());
    CHECK_FALSE(IdentitySource{IdentitySource::Kind::query, "Operation-Id"}.is_operation_id());
    CHECK_FALSE(IdentitySource{IdentitySource::Kind::header, "Idempotency-Key"}.is_operation_id());
}
