// The first bytes of a connection, arbitrary: no crash, the same verdict however they are cut into segments and
// records, and a verdict that stands once it is given.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/tls/client_hello.hpp"

using namespace opid::tls;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

void require_same(const HelloParse& one, const HelloParse& other) {
    require(one.outcome == other.outcome);
    require(one.why == other.why);
    require(one.hello.server_name_given == other.hello.server_name_given);
    require(one.hello.server_name == other.hello.server_name);
    require(one.hello.alpn_given == other.hello.alpn_given);
    require(one.hello.alpn == other.hello.alpn);
}

void check_words(const HelloParse& parse) {
    require((parse.outcome == HelloOutcome::refused) == !parse.why.empty());
    const ClientHello& hello = parse.hello;
    require(hello.server_name_given == !hello.server_name.empty());
    require(hello.server_name.size() <= 255 && hello.server_name.find('\0') == std::string::npos);
    require(hello.alpn_given == !hello.alpn.empty());
    for (const std::string& name : hello.alpn) require(!name.empty() && name.size() <= 255 && hello.offers(name));
    if (parse.outcome != HelloOutcome::complete) require(!hello.server_name_given && !hello.alpn_given);
}

// Every prefix of a small input, some of a large one.
void check_prefixes(std::string_view bytes, const HelloParse& whole) {
    const std::size_t step = std::max<std::size_t>(1, bytes.size() / 512);
    bool decided = false;
    for (std::size_t size = 0; size < bytes.size(); size += step) {
        const std::string prefix(bytes.substr(0, size));  // nothing may be read behind it
        const HelloParse parse = parse_client_hello(prefix);
        check_words(parse);
        require(!decided || parse.outcome != HelloOutcome::need_more);
        decided = parse.outcome != HelloOutcome::need_more;
        if (decided) require_same(parse, whole);
    }
}

// The input as a bare handshake message, in records of `size`.
HelloParse in_records(std::string_view message, std::size_t size) {
    std::string wire;
    for (std::size_t at = 0; at < message.size(); at += size) {
        const std::string_view fragment = message.substr(at, size);
        wire += "\x16\x03\x03";
        wire += static_cast<char>(fragment.size() >> 8);
        wire += static_cast<char>(fragment.size() & 0xff);
        wire += fragment;
    }
    return parse_client_hello(wire);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const HelloParse whole = parse_client_hello(bytes);
    check_words(whole);
    check_prefixes(bytes, whole);

    const std::string_view message = bytes.substr(std::min<std::size_t>(size, 5));
    if (message.size() > client_hello_wire_max / 6) return 0;  // one byte a record would not fit on the wire
    const HelloParse joined = in_records(message, 16384);
    for (const std::size_t record : {std::size_t{1}, std::size_t{3}, std::size_t{100}}) {
        require_same(in_records(message, record), joined);
    }
    return 0;
}
