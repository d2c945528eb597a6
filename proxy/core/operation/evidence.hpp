#pragma once
// What is known of one attempt: how far the bytes got and how it ended.
#include <cstdint>
#include <string>
#include <string_view>

namespace opid {

// How far an attempt got. Stored in attempts: never renumber. Order matters: everything below
// head_written is proof that the provider can't have acted.
enum class Stage : std::uint8_t {
    none = 0,
    resolved = 1,
    connected = 2,
    tls_done = 3,
    head_written = 4,  // at least one request byte was handed to the socket
    body_written = 5,  // the whole request was
    first_byte = 6,    // a first byte of the answer came
    answered = 7,      // the whole answer came
};

constexpr std::string_view to_word(Stage stage) {
    switch (stage) {
        case Stage::none: return "none";
        case Stage::resolved: return "resolved";
        case Stage::connected: return "connected";
        case Stage::tls_done: return "tls_done";
        case Stage::head_written: return "head_written";
        case Stage::body_written: return "body_written";
        case Stage::first_byte: return "first_byte";
        case Stage::answered: return "answered";
    }
    return "?";
}

struct Evidence {
    Stage stage = Stage::none;
    std::uint64_t bytes_sent = 0;    // request bytes handed to the transport
    int http_status = 0;             // final status line, 0 when none came
    std::string failure;             // short words: "connect refused", "reset", "timeout", "cut"; empty when answered
    std::string interim;             // interim statuses seen, "103,102"; bounded
    bool provider_replayed = false;  // the provider marked its answer as its stored first one

    bool nothing_sent() const { return stage < Stage::head_written; }
    friend bool operator==(const Evidence&, const Evidence&) = default;
};

}  // namespace opid
