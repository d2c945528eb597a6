#pragma once
// Where a provider's idempotency key (or a mark) sits in a request.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"
#include "core/identity/json_pointer.hpp"

namespace opid {

struct KeyCarrier {
    enum class Kind : std::uint8_t { none, header, body, form, query, path };
    Kind kind = Kind::none;
    std::string name;       // header (lower case), form, query and path capture
    JsonPointer pointer;    // body: a member of a JSON body; in a form body /a/b is the field a[b]
    std::string path_glob;  // path: the rule's path pattern in which {name} stands; set it before use

    friend bool operator==(const KeyCarrier&, const KeyCarrier&) = default;
};

// "none", "header:NAME", "body:/pointer", "form:NAME", "query:NAME", "path:{name}", or "graphql:variable"
// ("graphql:input.key" for a field of one), which is body:/variables/… . Error (invalid) says what is wrong.
Result<KeyCarrier> parse_key_carrier(std::string_view text);
std::string to_text(const KeyCarrier& carrier);

// Matches a path against a glob ("*" one segment, "**" any number, "{name}" one segment that is captured) and gives
// the byte range {offset, length} of the captured segment. No match or no such capture: nullopt.
std::optional<std::pair<std::size_t, std::size_t>> find_path_capture(std::string_view glob, std::string_view path,
                                                                     std::string_view name);

}  // namespace opid
