#include "core/http/transfer_framing.hpp"

#include <limits>

#include "base/encoding.hpp"
#include "core/http/fields.hpp"
#include "core/http/octets.hpp"

namespace opid::http {
namespace {

constexpr std::uint64_t length_max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

// Takes the text before the next comma; unlike ListCursor it gives empty elements too.
std::string_view take_element(std::string_view& rest, bool& more) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    const std::string_view element = trim_blank(rest.substr(0, comma));
    rest.remove_prefix(more ? comma + 1 : rest.size());
    return element;
}

Coding judge(std::string_view value) {
    if (is_name(value, "chunked")) return Coding::chunked;
    bool more = true;
    bool chunked = false;
    bool identity = false;
    unsigned codings = 0;
    while (more) {
        const std::string_view coding = take_element(value, more);
        if (!is_token(coding) || chunked) return Coding::malformed;
        ++codings;
        if (is_name(coding, "identity")) identity = true;
        if (is_name(coding, "chunked")) chunked = true;
    }
    if (identity && codings > 1) return Coding::malformed;
    return chunked ? Coding::coded_chunked : Coding::coded;
}

}  // namespace

void ContentLength::add_line(std::string_view value) {
    present_ = true;
    bool more = true;
    while (more) add_value(take_element(value, more));
}

void ContentLength::add_value(std::string_view digits) {
    std::uint64_t bytes = 0;
    if (digits.empty()) sound_ = false;
    for (const char c : digits) {
        const auto digit = static_cast<std::uint64_t>(c - '0');
        if (!is_digit(c) || bytes > (length_max - digit) / 10) {
            sound_ = false;
            return;
        }
        bytes = bytes * 10 + digit;
    }
    if (known_ && bytes != bytes_) sound_ = false;
    known_ = true;
    bytes_ = bytes;
}

void TransferCoding::add_line(std::string_view value) {
    coding_ = coding_ == Coding::none ? judge(value) : Coding::malformed;
}

}  // namespace opid::http
