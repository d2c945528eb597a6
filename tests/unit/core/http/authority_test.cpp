// Hosts, addresses and their classes.
#include <catch2/catch.hpp>

#include "core/http/address_class.hpp"
#include "core/http/authority.hpp"

using namespace opid::http;

TEST_CASE("one spelling for one place") {
    struct Row {
        const char* text;
        const char* canonical;  // empty: refused
    };
    const Row rows[] = {
        {"API.Example.COM:443", "api.example.com:443"},
        {"localhost.:80", "localhost:80"},
        {"metadata.google.internal.:80", "metadata.google.internal:80"},
        {"a_b.example:80", "a_b.example:80"},
        {"127.1:80", "127.0.0.1:80"},
        {"0x7f.0.0.1:80", "127.0.0.1:80"},
        {"2130706433:80", "127.0.0.1:80"},
        {"0177.0.0.1:80", "127.0.0.1:80"},
        {"0X7F000001:80", "127.0.0.1:80"},
        {"127.0.0.1.:80", "127.0.0.1:80"},
        {"10.0x101:80", "10.0.1.1:80"},
        {"256.0.0.1:80", ""},
        {"1.2.3.4.5:80", ""},
        {"1.2.3:80", "1.2.0.3:80"},
        {"089.0.0.1:80", ""},
        {"4294967296:80", ""},
        {"a.1:80", ""},
        {"1..2:80", ""},
        {"[2001:DB8::1]:443", "[2001:db8::1]:443"},
        {"[2001:db8:0:0:0:0:0:1]:443", "[2001:db8::1]:443"},
        {"[::ffff:127.0.0.1]:443", "[::ffff:127.0.0.1]:443"},
        {"[fe80::1%eth0]:443", ""},
        {"[127.0.0.1]:443", ""},
        {"[::1:443", ""},
        {"[]:443", ""},
        {"::1", ""},
        {"u@a:443", ""},
        {"a:0", ""},
        {"a:65536", ""},
        {"a:65535", "a:65535"},
        {"a:+1", ""},
        {"a:1x", ""},
        {":80", ""},
        {"", ""},
        {".:80", ""},
        {"a..b:80", ""},
        {"a..:80", ""},
        {".a:80", ""},
        {"a/b:80", ""},
        {"a%62:80", ""},
        {"a b:80", ""},
        {"b\xc3\xbc:80", ""},
        {"a", "a:443"},
        {"a:", "a:443"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        const auto parsed = parse_authority(row.text, 443);
        CHECK((parsed ? parsed->to_string() : "") == row.canonical);
    }
    CHECK_FALSE(parse_authority(std::string(64, 'a') + ".b"));
    CHECK(parse_authority(std::string(63, 'a') + ".b"));
    std::string longest;
    while (longest.size() < 252) longest += "a.";
    CHECK(parse_authority(longest + "b"));
    CHECK_FALSE(parse_authority(longest + "bb"));
    CHECK(parse_authority("a")->port == 0);
    CHECK_FALSE(parse_authority("a:", 80)->port_given);
    CHECK(normalise_host("LocalHost.") == std::optional<std::string>("localhost"));
    CHECK(normalise_host("::1") == std::optional<std::string>("::1"));
    CHECK(normalise_host("[::1]") == std::optional<std::string>("::1"));
    CHECK_FALSE(normalise_host("a:80"));
}

TEST_CASE("addresses as text") {
    for (const char* text : {"::", "::1", "1::", "2001:db8::1:0:0:1", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "0.0.0.0",
                             "255.255.255.255", "fe80::1", "1:0:0:2::3", "1::2:0:0:3"}) {
        INFO(text);
        REQUIRE(parse_ip(text));
        CHECK(parse_ip(text)->to_string() == text);
    }
    CHECK(parse_ip("1:2:3:4:5:6:1.2.3.4")->to_string() == "1:2:3:4:5:6:102:304");
    CHECK(parse_ip("1:0:2:3:4:5:6:7")->to_string() == "1:0:2:3:4:5:6:7");
    for (const char* text : {"",
                             ":",
                             ":::",
                             "1",
                             "1.2.3",
                             "1.2.3.4.5",
                             "01.2.3.4",
                             "1.2.3.256",
                             "1::2::3",
                             "12345::",
                             "1:2:3:4:5:6:7",
                             "1:2:3:4:5:6:7:8:9",
                             "1:2:3:4:5:6:7::8",
                             "::1.2.3",
                             "1.2.3.4::",
                             "::g",
                             "1:",
                             ":1",
                             "::1%lo",
                             "::-1",
                             "1:2:3:4:5:6:7:1.2.3.4",
                             " ::1",
                             "1.2.3.4 "}) {
        INFO(text);
        CHECK_FALSE(parse_ip(text));
    }
}

TEST_CASE("classes of addresses") {
    struct Row {
        const char* text;
        const char* kind;
    };
    const Row rows[] = {
        {"8.8.8.8", "public"},
        {"2606:4700::1", "public"},
        {"172.32.0.1", "public"},
        {"100.128.0.1", "public"},
        {"127.0.0.1", "loopback"},
        {"127.255.255.255", "loopback"},
        {"::1", "loopback"},
        {"0.0.0.0", "unspecified"},
        {"0.1.2.3", "unspecified"},
        {"::", "unspecified"},
        {"10.1.2.3", "private"},
        {"172.16.0.1", "private"},
        {"172.31.255.255", "private"},
        {"192.168.1.1", "private"},
        {"fc00::1", "private"},
        {"fd12::1", "private"},
        {"fec0::1", "private"},
        {"169.254.1.1", "link_local"},
        {"fe80::1", "link_local"},
        {"febf::1", "link_local"},
        {"100.64.0.1", "cgnat"},
        {"100.127.255.255", "cgnat"},
        {"169.254.169.254", "metadata"},
        {"fd00:ec2::254", "metadata"},
        {"100.100.100.200", "metadata"},
        {"169.254.170.2", "metadata"},
        {"192.0.0.192", "metadata"},
        {"168.63.129.16", "metadata"},
        {"224.0.0.1", "multicast"},
        {"ff02::1", "multicast"},
        {"255.255.255.255", "broadcast"},
        {"192.0.0.1", "reserved"},
        {"198.18.0.1", "reserved"},
        {"198.19.255.255", "reserved"},
        {"240.0.0.1", "reserved"},
        {"192.0.2.1", "reserved"},
        {"2001:db8::1", "reserved"},
        {"100::1", "reserved"},
        {"4000::1", "reserved"},
        {"::ffff:127.0.0.1", "loopback"},
        {"::ffff:169.254.169.254", "metadata"},
        {"::ffff:8.8.8.8", "public"},
        {"::127.0.0.1", "loopback"},
        {"::10.0.0.1", "private"},
        {"::ffff:0:10.0.0.1", "private"},
        {"64:ff9b::7f00:1", "loopback"},
        {"64:ff9b::808:808", "public"},
        {"64:ff9b:1::1", "reserved"},
        {"2002:7f00:1::", "loopback"},
        {"2002:a9fe:a9fe::1", "metadata"},
        {"2002:808:808::1", "public"},
        {"2001:0:1:2:3:4:80ff:fffe", "loopback"},
        {"2001::f5ff:fffe", "private"},
    };
    for (const Row& row : rows) {
        INFO(row.text);
        REQUIRE(parse_ip(row.text));
        CHECK(to_string(classify(*parse_ip(row.text))) == row.kind);
    }
    CHECK(is_private(AddressClass::loopback));
    CHECK_FALSE(is_private(AddressClass::public_address));
    CHECK_FALSE(is_private(AddressClass::metadata));
    CHECK(is_metadata_name("metadata.google.internal"));
    CHECK_FALSE(is_metadata_name("example.com"));
}

TEST_CASE("CIDR blocks") {
    const auto holds = [](const char* block, const char* address) {
        return Cidr::parse(block)->contains(*parse_ip(address));
    };
    CHECK(holds("10.0.0.0/8", "10.255.0.1"));
    CHECK_FALSE(holds("10.0.0.0/8", "11.0.0.0"));
    CHECK(holds("10.0.0.0/8", "::ffff:10.0.0.1"));
    CHECK_FALSE(holds("10.0.0.0/8", "a00::1"));
    CHECK(holds("192.0.2.128/25", "192.0.2.200"));
    CHECK_FALSE(holds("192.0.2.128/25", "192.0.2.127"));
    CHECK(holds("0.0.0.0/0", "1.2.3.4"));
    CHECK(holds("::/0", "2001:db8::1"));
    CHECK_FALSE(holds("::/0", "1.2.3.4"));
    CHECK(holds("fd00::/8", "fdff::1"));
    CHECK(holds("192.0.2.1", "192.0.2.1"));
    CHECK_FALSE(holds("192.0.2.1", "192.0.2.2"));
    CHECK(Cidr::parse("192.0.2.1")->to_string() == "192.0.2.1/32");
    for (const char* text :
         {"", "10.0.0.0/", "10.0.0.0/33", "10.0.0.1/8", "::/129", "10.0.0.0/-1", "10/8", "x/8", "10.0.0.0/8 "}) {
        INFO(text);
        CHECK_FALSE(Cidr::parse(text));
    }
}
