#pragma once
// application/x-www-form-urlencoded and query strings: pairs with their byte ranges, decoding, encoding.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/identity/body_fields.hpp"

namespace opid {

struct FormPair {
    std::size_t begin = 0;  // of the pair in its text
    std::size_t name_end = 0;
    std::size_t end = 0;
    bool has_value = false;  // then the value is [name_end + 1, end)
};

std::vector<FormPair> split_form(std::string_view text);         // empty pairs are left out
std::optional<std::string> form_decoded(std::string_view text);  // "+" is a blank; nullopt: a broken "%"
std::string percent_encoded(std::string_view text);              // all but the unreserved characters of RFC 3986

// The decoded fields in order. nullopt where a "%" is broken: such a body has no agreed meaning.
std::optional<std::vector<BodyField>> form_fields(std::string_view body);
std::string encode_form_field(const BodyField& field);

}  // namespace opid
