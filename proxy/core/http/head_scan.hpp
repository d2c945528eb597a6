#pragma once
// What to do with a head that is still growing: looks at the new bytes alone, so that a head which comes byte by
// byte costs linear time.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/http/field_line.hpp"
#include "core/http/head_parse.hpp"

namespace opid::http {

enum class ScanVerdict : std::uint8_t {
    wait,   // nothing that could change the outcome
    parse,  // the start line or the head is complete, or must be judged
    fault,  // `fault` says what is wrong with a line that has just become complete
};

struct HeadScan {
    ScanVerdict verdict = ScanVerdict::parse;
    std::string_view fault;
};

struct HeadScanLimits {
    std::size_t start_line_bytes = 0;  // an unfinished start line of more is for the parser to judge
    std::size_t field_lines = 0;       // and so are more field lines
};

HeadScan scan_head(std::string_view bytes, const HeadScanLimits& limits, NameBlanks blanks, HeadProgress& progress);

}  // namespace opid::http
