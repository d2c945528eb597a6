// What the load generator sends and what it expects: options, and the request text with the places of the operation ID.
#pragma once

#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace opid::bench {

inline constexpr std::string_view load_usage =
    "opid_load --target HOST:PORT --mode pass-get|pass-post|write|replay|mismatch|joiners|lookup [options]\n"
    "opid_load --target HOST:PORT --mode tunnel-down|tunnel-up|tunnel-both [options]\n"
    "  --path /effects         request path; '{id}' in it is replaced by the operation ID\n"
    "  --absolute AUTHORITY    absolute-form targets, http://AUTHORITY/path (forward proxy)\n"
    "  --authority HOST:PORT   whom the requests are for, where that is not the target; '{id}' as in the path\n"
    "  --connect 0|1           ask the target for a tunnel to the authority first\n"
    "  --tls FILE              TLS to the authority, which has to prove its name to the CA certificates in FILE\n"
    "  --fresh 0|1             a new connection (tunnel, handshake) for every request, which its latency includes\n"
    "  --resume 0|1            offer the TLS session of the connection before\n"
    "  --header 'Name: value'  one more request header\n"
    "  --connections 1  --threads 1\n"
    "  --duration 5 --warmup 1 seconds, or --count N requests in all (then no warm-up; joiners: rounds;\n"
    "                          tunnels: bytes each way of each, which are then compared at both ends)\n"
    "  --body 1024             bytes of the JSON request body\n"
    "  --prefix TEXT | --seed N   IDs are PREFIX and 12 digits; the default prefix comes from the seed\n"
    "  --first N --ids N       the IDs to use: from N on; replay, mismatch and lookup stay among --ids of them\n"
    "  --shuffle 0|1           take those IDs in (seeded) random order instead of in turn\n"
    "  --expect 200,422        accepted statuses (default 200, mismatch 422)\n"
    "  --expect-replayed yes|no    demand or forbid the header Idempotent-Replayed: true\n"
    "  --expect-operation TEXT|none   demand this Operation-Status, or that there is none\n";

struct LoadOptions {
    std::string target;
    std::string mode = "pass-get";
    std::string path = "/effects";
    std::string absolute;
    std::string authority;
    unsigned connect = 0;
    std::string tls;
    unsigned fresh = 0;
    unsigned resume = 0;
    std::string header;
    unsigned connections = 1;
    unsigned threads = 1;
    double duration = 5;
    double warmup = 1;
    std::uint64_t count = 0;
    std::size_t body = 1024;
    std::string prefix;
    std::uint64_t seed = 1;
    std::uint64_t first = 0;
    std::uint64_t ids = 0;
    unsigned shuffle = 0;
    std::string expect;
    std::string expect_replayed;
    std::string expect_operation;

    bool joiners() const { return mode == "joiners"; }
    bool tunnels() const { return mode.starts_with("tunnel-"); }
    bool reads() const { return mode == "pass-get" || mode == "lookup"; }
    bool names_operation() const { return mode == "write" || mode == "replay" || mode == "mismatch" || joiners(); }
};

// A JSON object of exactly `size` bytes (at least some 400), shaped like a payment; variant changes one amount.
inline std::string json_body(std::size_t size, bool variant) {
    std::string body = fmt::format(R"({{"amount":{},"currency":"usd","customer":"cus_9s6XKzkNRiz8i3","capture":true,)",
                                   variant ? 2100 : 1050);
    body += R"("metadata":{"order":"6735","agent":"billing","step":"refund-3","tags":["a","b","c"]},"items":[)";
    for (int i = 0; i < 4; ++i) {
        if (i != 0) body += ',';
        body += fmt::format(R"({{"sku":"SKU-{:04}","quantity":{},"price":{}.50}})", 1000 + i, i + 1, 10 + i);
    }
    body += R"(],"description":")";
    if (body.size() + 2 < size) body.append(size - body.size() - 2, 'd');
    return body + "\"}";
}

// A text with an operation ID in some places, whose digits are patched in place.
class NumberedText {
public:
    static constexpr std::size_t digits = 12;

    // Each `slot` (a prefix of `prefix` bytes and then the digits) in the text becomes such a place.
    NumberedText(std::string text, std::string_view slot, std::size_t prefix) : text_(std::move(text)) {
        for (auto at = text_.find(slot); at != std::string::npos; at = text_.find(slot, at + 1)) {
            places_.push_back(at + prefix);
        }
    }

    const std::string& with_id(std::uint64_t id) {
        char number[digits];
        for (std::size_t i = digits; i > 0; --i, id /= 10) number[i - 1] = static_cast<char>('0' + id % 10);
        for (const auto place : places_) std::memcpy(text_.data() + place, number, digits);
        return text_;
    }

private:
    std::string text_;
    std::vector<std::size_t> places_;
};

// All that a connection says in the course of its life: CONNECT, the name in the handshake, requests.
struct LoadTexts {
    NumberedText connect;
    NumberedText name;
    NumberedText request;
};

inline LoadTexts load_texts(const LoadOptions& options) {
    const std::string slot = options.prefix + std::string(NumberedText::digits, '0');
    const auto filled = [&](std::string text) {
        if (const auto at = text.find("{id}"); at != std::string::npos) text.replace(at, 4, slot);
        return text;
    };
    const auto peer = filled(options.authority.empty() ? options.target : options.authority);
    auto host = options.absolute.empty() ? peer : options.absolute;
    if (!options.tls.empty() && host.ends_with(":443")) host.resize(host.size() - 4);
    std::string text = fmt::format("{} {}{} HTTP/1.1\r\nHost: {}\r\nUser-Agent: opid-load\r\nAccept: */*\r\n",
                                   options.reads() ? "GET" : "POST", options.absolute.empty() ? "" : "http://" + host,
                                   filled(options.path), host);
    if (options.names_operation()) text += "Operation-Id: " + slot + "\r\n";
    if (!options.header.empty()) text += options.header + "\r\n";
    if (!options.reads()) {
        const auto body = json_body(options.body, options.mode == "mismatch");
        text += fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
    } else {
        text += "\r\n";
    }
    const auto numbered = [&](std::string plain) {
        return NumberedText(std::move(plain), slot, options.prefix.size());
    };
    return {numbered(fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n\r\n", peer)),
            numbered(peer.substr(0, peer.rfind(':'))), numbered(std::move(text))};
}

// Which responses count as right.
class Expectation {
public:
    explicit Expectation(const LoadOptions& options)
        : replayed_(options.expect_replayed),
          operation_(options.expect_operation) {
        std::string list = options.expect.empty() ? (options.mode == "mismatch" ? "422" : "200") : options.expect;
        for (std::size_t at = 0; at < list.size(); at += 4)
            statuses_.insert(static_cast<unsigned>(std::stoul(list.substr(at))));
    }
    bool wants_fields() const { return !replayed_.empty() || !operation_.empty(); }
    bool accepts(unsigned status, bool replayed, std::string_view operation) const {
        if (statuses_.count(status) == 0) return false;
        if (!replayed_.empty() && replayed != (replayed_ == "yes")) return false;
        return operation_.empty() ||
               operation == (operation_ == "none" ? std::string_view{} : std::string_view(operation_));
    }

private:
    std::set<unsigned> statuses_;
    std::string replayed_;
    std::string operation_;
};

}  // namespace opid::bench
