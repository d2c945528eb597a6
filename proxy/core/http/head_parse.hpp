#pragma once
// What the head parsers return, and the note that makes a head which arrives in pieces cost linear time.
#include <cstddef>
#include <cstdint>

#include "core/http/refusal.hpp"

namespace opid::http {

enum class ParseOutcome : std::uint8_t { need_more, complete, refused };

struct HeadParse {
    ParseOutcome outcome = ParseOutcome::need_more;
    std::size_t consumed = 0;  // complete: bytes up to and with the blank line. refused with close=false: the same
    Refusal refusal;           // refused only
};

// Kept by the caller beside its buffer, one a message. The parsers reset it when the message is decided.
struct HeadProgress {
    std::size_t scanned = 0;      // bytes that hold no undiscovered end of line
    std::size_t line_start = 0;   // where the unfinished line begins
    std::size_t field_lines = 0;  // complete ones so far
    bool start_line_done = false;
    bool started = false;  // a byte of the start line has arrived; blank lines before it don't count
};

}  // namespace opid::http
