#pragma once
// Text encodings of bytes, and the ASCII helpers that HTTP needs (locale-free by design).
#include <optional>
#include <string>
#include <string_view>

namespace opid {

std::string hex(std::string_view bytes);  // lower case
std::optional<std::string> from_hex(std::string_view text);
std::string base32hex(std::string_view bytes);                  // RFC 4648 section 7, lower case, no padding
std::string base64(std::string_view bytes);                     // RFC 4648 section 4, padded
std::optional<std::string> from_base64(std::string_view text);  // strict: padded, no white space

constexpr char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
std::string ascii_lower(std::string_view text);
bool equal_ignoring_case(std::string_view a, std::string_view b);  // ASCII only
std::string_view trim_blank(std::string_view text);                // spaces and tabs at both ends

}  // namespace opid
