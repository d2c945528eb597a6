#pragma once
// Decodes a chunked body (RFC 9112 section 7.1) as it arrives. Data is handed out as views into the caller's bytes,
// never copied; only trailers are kept, in a bounded buffer of the reader's own.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/http/fields.hpp"
#include "core/http/head_limits.hpp"
#include "core/http/refusal.hpp"

namespace opid::http {

enum class MessageSide : std::uint8_t { request, response };  // faults are 400 bad-request or 502 upstream-invalid

class ChunkReader {
public:
    enum class Kind : std::uint8_t {
        need_more,  // all bytes were taken and none of them is left to hand out
        data,       // `data` is a non-empty part of the body
        end,        // the message is complete; bytes after `consumed` belong to the next one
        refused,    // malformed or over a bound; the connection must be closed
    };
    struct Step {
        Kind kind = Kind::need_more;
        std::size_t consumed = 0;  // bytes of this call's input that belong to the message; drop them and go on
        std::string_view data;     // inside this call's input
        Refusal refusal;
    };

    explicit ChunkReader(MessageSide side, const HeadLimits& limits = {});
    ChunkReader(const ChunkReader&) = delete;  // the trailers view its own buffer
    ChunkReader& operator=(const ChunkReader&) = delete;

    // Takes bytes up to the next event. Call until need_more, end or refused; the last two repeat for ever.
    Step next(std::string_view bytes);
    void reset();  // ready for another message, capacities kept

    bool done() const { return state_ == State::done; }
    std::uint64_t data_bytes() const { return data_bytes_; }  // handed out so far

    // After `end`. Views into this reader. trailers() lacks the fields that may not come in a trailer section
    // (RFC 9110 section 6.5.1, see may_be_trailer); all_trailers() is for checks only.
    const FieldList& trailers() const { return trailers_; }
    const FieldList& all_trailers() const { return all_trailers_; }

private:
    enum class State : std::uint8_t { size, extension, size_lf, data, data_cr, data_lf, trailers, done, failed };

    // Each takes bytes from `at` on and returns false when it has failed.
    bool read_size(const char*& at, const char* end);
    bool read_extension(const char*& at, const char* end);
    bool read_expected(const char*& at, char expected, State next, std::string_view detail);
    bool read_trailers(const char*& at, const char* end);
    bool size_line_done();
    bool trailer_line_done();
    bool keep_trailers();
    bool fail(std::string_view detail);
    bool fail_bound(std::uint16_t status, std::string_view slug, std::string_view detail);

    MessageSide side_;
    HeadLimits limits_;
    State state_ = State::size;
    unsigned digits_ = 0;
    std::uint64_t left_ = 0;  // of the current chunk
    std::size_t extension_bytes_ = 0;
    std::size_t message_extension_bytes_ = 0;
    std::uint64_t overhead_ = 0;
    std::uint64_t data_bytes_ = 0;
    std::string trailer_text_;
    std::size_t trailer_line_ = 0;  // where the unfinished line begins
    FieldList all_trailers_;
    FieldList trailers_;
    Refusal refusal_;
};

// False for fields that steer framing, routing, authentication, caching, identity or content handling, all
// Operation-* and Proxy-* fields, and opid's own.
bool may_be_trailer(std::string_view name);

}  // namespace opid::http
