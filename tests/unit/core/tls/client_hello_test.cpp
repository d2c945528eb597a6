#include "core/tls/client_hello.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace opid::tls;

namespace {

std::string big_endian(std::size_t value, int bytes) {
    std::string out;
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
    return out;
}
std::string sized(int bytes, const std::string& text) { return big_endian(text.size(), bytes) + text; }
std::string extension(std::size_t type, const std::string& body) { return big_endian(type, 2) + sized(2, body); }
std::string host(const std::string& name) { return std::string(1, '\0') + sized(2, name); }
std::string sni(const std::string& entries) { return extension(0, sized(2, entries)); }
std::string alpn(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) list += sized(1, name);
    return extension(16, sized(2, list));
}
std::string record(const std::string& fragment, char minor = 1) {
    return std::string("\x16\x03") + minor + sized(2, fragment);
}

struct Parts {
    std::string type{"\x01"};
    std::string version{"\x03\x03"};
    std::string session = sized(1, "");
    std::string suites = sized(2, "\x13\x01");
    std::string methods = sized(1, std::string(1, '\0'));
};
std::string body_of(const Parts& parts, const std::string& extensions) {
    return parts.version + std::string(32, 'r') + parts.session + parts.suites + parts.methods + extensions;
}
std::string message_of(const std::string& extensions, const Parts& parts = {}) {
    return parts.type + sized(3, body_of(parts, sized(2, extensions)));
}
std::string cut_into_records(const std::string& message, std::size_t size) {
    std::string out;
    for (std::size_t at = 0; at < message.size(); at += size) out += record(message.substr(at, size));
    return out;
}

const std::string full_message = message_of(extension(0x0a0a, "") + sni(host("api.example.com")) +
                                            extension(43, "\x02\x03\x04") + alpn({"h2", "http/1.1"}) +
                                            extension(21, std::string(50, '\0')));

void require_full(const HelloParse& parse) {
    REQUIRE(parse.outcome == HelloOutcome::complete);
    REQUIRE(parse.why.empty());
    REQUIRE(parse.hello.server_name_given);
    REQUIRE(parse.hello.server_name == "api.example.com");
    REQUIRE(parse.hello.alpn_given);
    REQUIRE(parse.hello.alpn == std::vector<std::string>{"h2", "http/1.1"});
}

// The parser must wait at every cut before the end and know for good at the end.
void require_at_every_cut(const std::string& wire) {
    for (std::size_t size = 0; size < wire.size(); ++size) {
        INFO("cut at " << size << " of " << wire.size());
        const std::string prefix = wire.substr(0, size);
        REQUIRE(parse_client_hello(prefix).outcome == HelloOutcome::need_more);
    }
    require_full(parse_client_hello(wire));
    require_full(parse_client_hello(wire + "anything at all may follow"));
    require_full(parse_client_hello(wire + std::string(2 * client_hello_wire_max, '\x17')));
}

struct Bad {
    const char* what;
    std::string message;
    const char* why;
};

// Refused, and never anything but need_more before; the verdict stays whatever follows.
void require_refused(const Bad& bad, const std::string& wire) {
    INFO(bad.what);
    bool refused = false;
    for (std::size_t size = 0; size <= wire.size(); ++size) {
        const HelloParse parse = parse_client_hello(wire.substr(0, size));
        INFO("cut at " << size << " of " << wire.size());
        if (refused) {
            REQUIRE(parse.outcome == HelloOutcome::refused);
        } else {
            REQUIRE((parse.outcome == HelloOutcome::need_more || parse.outcome == HelloOutcome::refused));
        }
        refused = parse.outcome == HelloOutcome::refused;
        if (refused) REQUIRE(parse.why == bad.why);
    }
    REQUIRE(refused);
}

}  // namespace

TEST_CASE("a ClientHello is found whatever its segments and records") {
    REQUIRE(full_message.size() == 154);
    SECTION("one record") { require_at_every_cut(record(full_message)); }
    SECTION("any record version under major 3") { require_at_every_cut(record(full_message, '\xff')); }
    SECTION("split over records of every size") {
        for (std::size_t size = 1; size < full_message.size(); ++size) {
            CAPTURE(size);
            require_full(parse_client_hello(cut_into_records(full_message, size)));
        }
    }
    SECTION("two records, cut everywhere") {
        for (std::size_t at = 1; at < full_message.size(); at += 7) {
            require_at_every_cut(record(full_message.substr(0, at)) + record(full_message.substr(at)));
        }
    }
    SECTION("one byte a record, one byte a segment") { require_at_every_cut(cut_into_records(full_message, 1)); }
    SECTION("more handshake bytes in its last record") {
        require_full(parse_client_hello(record(full_message + "\x02\x00")));
    }
}

TEST_CASE("what a ClientHello says") {
    struct Row {
        const char* what;
        std::string message;
        bool named;
        std::string name;
        bool alpn;
        std::vector<std::string> protocols;
    };
    Parts tls12;
    tls12.session = sized(1, std::string(32, 's'));
    const std::string no_extensions = Parts().type + sized(3, body_of(tls12, ""));
    const std::string longest(255, 'a');
    const Row rows[] = {
        {"no extensions", no_extensions, false, "", false, {}},
        {"neither of the two", message_of(extension(10, "abcd")), false, "", false, {}},
        {"a name alone", message_of(sni(host("a.test"))), true, "a.test", false, {}},
        {"the name as it came", message_of(sni(host("API.Example.COM."))), true, "API.Example.COM.", false, {}},
        {"no rule about its characters", message_of(sni(host("*_\xff 1"))), true, "*_\xff 1", false, {}},
        {"an address", message_of(sni(host("127.0.0.1"))), true, "127.0.0.1", false, {}},
        {"255 bytes", message_of(sni(host(longest))), true, longest, false, {}},
        {"another type of name first",
         message_of(sni("\x07" + sized(2, "?") + host("b.test"))),
         true,
         "b.test",
         false,
         {}},
        {"another type behind it", message_of(sni(host("c.test") + "\x07" + sized(2, ""))), true, "c.test", false, {}},
        {"only another type", message_of(sni("\x07" + sized(2, "x"))), false, "", false, {}},
        {"one protocol", message_of(alpn({"http/1.1"})), false, "", true, {"http/1.1"}},
        {"any bytes in a protocol",
         message_of(alpn({std::string("\x0a\x00", 2), "h2"})),
         false,
         "",
         true,
         {std::string("\x0a\x00", 2), "h2"}},
        {"a protocol of 255 bytes",
         message_of(alpn({std::string(255, 'p')})),
         false,
         "",
         true,
         {std::string(255, 'p')}},
        {"order is kept",
         message_of(alpn({"c", "a", "b"}) + sni(host("d.test"))),
         true,
         "d.test",
         true,
         {"c", "a", "b"}},
    };
    for (const Row& row : rows) {
        INFO(row.what);
        const HelloParse parse = parse_client_hello(record(row.message));
        REQUIRE(parse.outcome == HelloOutcome::complete);
        CHECK(parse.hello.server_name_given == row.named);
        CHECK(parse.hello.server_name == row.name);
        CHECK(parse.hello.alpn_given == row.alpn);
        CHECK(parse.hello.alpn == row.protocols);
    }
}

TEST_CASE("offers() looks for one protocol, whole") {
    ClientHello hello;
    CHECK_FALSE(hello.offers("http/1.1"));
    hello.alpn = {"h2", "http/1.1"};
    CHECK(hello.offers("http/1.1"));
    CHECK(hello.offers("h2"));
    CHECK_FALSE(hello.offers("http/1"));
    CHECK_FALSE(hello.offers("HTTP/1.1"));
    CHECK_FALSE(hello.offers(""));
}

TEST_CASE("what is no TLS is known by its first bytes") {
    const std::string rows[] = {
        "GET / HTTP/1.1\r\n",
        "P",
        std::string("\x00", 1),
        "\x15\x03\x01",                                  // an alert
        "\x17\x03\x03",                                  // application data
        "\x14\x03\x03",                                  // change_cipher_spec
        std::string("\x80\x2e\x01\x03\x01\x00\x15", 7),  // an SSLv2 hello
        std::string("\x80", 1),
        "SSH-2.0-OpenSSH\r\n",
        "\x16\x02",  // SSL 2 never looked like this
        "\x16\x04",
        "\x16\xfe\xff",  // DTLS
        "\x16GET",
    };
    for (const std::string& row : rows) {
        CAPTURE(row);
        CHECK(parse_client_hello(row).outcome == HelloOutcome::not_tls);
        CHECK(parse_client_hello(row + record(full_message)).outcome == HelloOutcome::not_tls);
    }
    CHECK(parse_client_hello("").outcome == HelloOutcome::need_more);
    CHECK(parse_client_hello("\x16").outcome == HelloOutcome::need_more);
    CHECK(parse_client_hello("\x16\x03").outcome == HelloOutcome::need_more);
}

TEST_CASE("a malformed message is refused as soon as it shows") {
    constexpr auto field_past_end = "a field runs past the end of what holds it";
    constexpr auto too_large = "a length is larger than what can follow";
    constexpr auto extensions_end = "the list of extensions is empty or not what ends the message";
    constexpr auto names_end = "server_name: its list is empty or not what fills it";
    constexpr auto alpn_end = "ALPN: its list is empty or not what fills it";
    const auto with = [](auto change) {
        Parts parts;
        change(parts);
        return message_of(alpn({"h2"}), parts);
    };
    const std::string body = body_of({}, "");
    const std::string entry = host("a.test");
    const Bad rows[] = {
        {"a ServerHello", with([](Parts& p) { p.type = "\x02"; }), "not a ClientHello"},
        {"HelloRequest", std::string(4, '\0'), "not a ClientHello"},
        {"a message of nothing", std::string("\x01\0\0\0", 4), "too short for a ClientHello"},
        {"a message of 40 bytes", "\x01" + sized(3, std::string(40, '\x03')), "too short for a ClientHello"},
        {"a message over the bound", "\x01" + sized(3, std::string(client_hello_max - 3, '\x03')), too_large},
        {"a message of 16 MiB", std::string("\x01\xff\xff\xff", 4), too_large},
        {"version 2", with([](Parts& p) { p.version = "\x02\x03"; }), "an unknown version"},
        {"a session ID of 33", with([](Parts& p) { p.session = sized(1, std::string(33, 's')); }), too_large},
        {"a session ID past the end", with([](Parts& p) { p.session = "\x20"; }), too_large},
        {"no cipher suite", with([](Parts& p) { p.suites = sized(2, ""); }), "a malformed list of cipher suites"},
        {"an odd list of suites", with([](Parts& p) { p.suites = sized(2, "abc"); }),
         "a malformed list of cipher suites"},
        {"suites past the end", with([](Parts& p) { p.suites = "\x01\x02"; }), too_large},
        {"no compression method", with([](Parts& p) { p.methods = sized(1, ""); }), "no compression method"},
        {"methods past the end", with([](Parts& p) { p.methods = "\xff"; }), too_large},
        {"one byte behind the methods", "\x01" + sized(3, body + "x"), field_past_end},
        {"extensions of no length", "\x01" + sized(3, body + sized(2, "")), extensions_end},
        {"extensions past the end", "\x01" + sized(3, body + std::string("\0\x0a", 2) + alpn({"h2"})), too_large},
        {"bytes behind the extensions", "\x01" + sized(3, body + sized(2, alpn({"h2"})) + "x"), extensions_end},
        {"an extension past the end", message_of(std::string("\0\x0a\0\x05", 4) + "abcd"), too_large},
        {"half an extension header", message_of(alpn({"h2"}) + std::string("\0\x0a\0", 3)), field_past_end},
        {"the name twice", message_of(sni(entry) + sni(entry)), "an extension twice"},
        {"ALPN twice", message_of(alpn({"h2"}) + alpn({"h2"})), "an extension twice"},
        {"any extension twice", message_of(extension(0xfafa, "") + extension(0xfafa, "")), "an extension twice"},
        {"server_name without a list", message_of(extension(0, "")), field_past_end},
        {"an empty list of names", message_of(sni("")), names_end},
        {"a list of names that is too short", message_of(extension(0, sized(2, entry) + "x")), names_end},
        {"a list of names that is too long", message_of(extension(0, big_endian(99, 2) + entry)), too_large},
        {"two host names", message_of(sni(entry + host("b.test"))), "server_name: two names of one type"},
        {"two of another type", message_of(sni("\x07" + sized(2, "") + "\x07" + sized(2, ""))),
         "server_name: two names of one type"},
        {"an empty name", message_of(sni(host(""))), "server_name: an empty name"},
        {"a name of 256", message_of(sni(host(std::string(256, 'a')))), too_large},
        {"a name past its list", message_of(sni(std::string("\0\0\x09", 3) + "a.test") + alpn({"h2"})), too_large},
        {"a NUL in a name", message_of(sni(host(std::string("a\0.test", 7)))), "server_name: a NUL in the name"},
        {"a type alone", message_of(sni(std::string("\0\0", 2))), field_past_end},
        {"ALPN without a list", message_of(extension(16, "")), field_past_end},
        {"an empty list of protocols", message_of(alpn({})), alpn_end},
        {"an empty protocol", message_of(alpn({"h2", ""})), "ALPN: an empty name"},
        {"a protocol past its list", message_of(extension(16, sized(2, "\x03h2"))), too_large},
        {"bytes behind the protocols", message_of(extension(16, sized(2, "\x02h2") + "x")), alpn_end},
    };
    for (const Bad& row : rows) {
        require_refused(row, record(row.message.substr(0, 16384)));
        if (row.message.size() < 1000) require_refused(row, cut_into_records(row.message, 3));
    }
}

TEST_CASE("a malformed record is refused as soon as it shows") {
    const std::string half = full_message.substr(0, 80);
    const std::string rest = full_message.substr(80);
    const Bad rows[] = {
        {"an empty first record", record("") + record(full_message), "an empty record"},
        {"an empty record within", record(half) + record("") + record(rest), "an empty record"},
        {"a record over 16 KiB", std::string("\x16\x03\x01\x40\x01", 5) + full_message, "a record over 16 KiB"},
        {"its first length byte says it", std::string("\x16\x03\x01\x41", 4), "a record over 16 KiB"},
        {"an alert within", record(half) + std::string("\x15\x03\x03\0\x02\x02\x28", 7),
         "another record amid the ClientHello"},
        {"text within", record(half) + "GET ", "another record amid the ClientHello"},
        {"another version within", record(half) + "\x16\x02" + rest, "a record of an unknown version"},
    };
    for (const Bad& row : rows) require_refused(row, row.message);

    SECTION("only a record within the message counts") {
        require_full(parse_client_hello(record(full_message) + record("")));
        require_full(parse_client_hello(record(full_message) + "\x15\x03\x03"));
    }
}

TEST_CASE("bounds of the message and of its wire form") {
    const auto padded_to = [](std::size_t size) {
        const std::size_t without =
            message_of(sni(host("api.example.com")) + alpn({"h2", "http/1.1"}) + extension(21, "")).size();
        return message_of(sni(host("api.example.com")) + alpn({"h2", "http/1.1"}) +
                          extension(21, std::string(size - without, '\0')));
    };
    SECTION("1.6 KB, as post-quantum key shares make it") { require_at_every_cut(record(padded_to(1700))); }
    SECTION("the largest") {
        const std::string largest = padded_to(client_hello_max);
        REQUIRE(largest.size() == 16384);
        require_full(parse_client_hello(record(largest)));
        require_full(parse_client_hello(cut_into_records(largest, 1000)));
        require_full(parse_client_hello(cut_into_records(largest, 6)));
        CHECK(parse_client_hello(record(largest).substr(0, 16388)).outcome == HelloOutcome::need_more);
    }
    SECTION("one byte more") {
        const std::string too_large = padded_to(client_hello_max + 1);
        CHECK(parse_client_hello(cut_into_records(too_large, 9000)).outcome == HelloOutcome::refused);
        CHECK(parse_client_hello(cut_into_records(too_large, 9000).substr(0, 9)).outcome == HelloOutcome::refused);
    }
    SECTION("one byte a record exhausts the room on the wire, and only there") {
        const std::string wire = cut_into_records(padded_to(client_hello_max), 1);
        CHECK(parse_client_hello(wire.substr(0, client_hello_wire_max - 1)).outcome == HelloOutcome::need_more);
        for (const std::size_t size : {client_hello_wire_max, client_hello_wire_max + 1, wire.size()}) {
            const HelloParse parse = parse_client_hello(wire.substr(0, size));
            CHECK(parse.outcome == HelloOutcome::refused);
            CHECK(parse.why == "cut into too many records");
        }
        require_full(parse_client_hello(cut_into_records(padded_to(5000), 1)));
    }
}

TEST_CASE("thousands of extensions or protocols are read once each") {
    std::string many;
    for (std::size_t type = 100; type < 4100; ++type) many += extension(type, "");
    CHECK(parse_client_hello(record(message_of(many))).outcome == HelloOutcome::complete);
    CHECK(parse_client_hello(record(message_of(many + extension(4099, "")))).outcome == HelloOutcome::refused);
    const HelloParse parse = parse_client_hello(record(message_of(alpn(std::vector<std::string>(8000, "x")))));
    REQUIRE(parse.outcome == HelloOutcome::complete);
    CHECK(parse.hello.alpn.size() == 8000);
}
