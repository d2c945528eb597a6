#include "base/encoding.hpp"

#include <array>
#include <cstdint>

namespace opid {
namespace {

constexpr std::string_view base32hex_digits = "0123456789abcdefghijklmnopqrstuv";
constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = ascii_lower(c);
    if (lower >= 'a' && lower <= 'f') return lower - 'a' + 10;
    return -1;
}

}  // namespace

std::string hex(std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        const auto byte = static_cast<std::uint8_t>(c);
        text.push_back(digits[byte >> 4]);
        text.push_back(digits[byte & 15]);
    }
    return text;
}

std::optional<std::string> from_hex(std::string_view text) {
    if (text.size() % 2 != 0) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 2);
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const int high = hex_value(text[i]);
        const int low = hex_value(text[i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        bytes.push_back(static_cast<char>(high * 16 + low));
    }
    return bytes;
}

std::string base32hex(std::string_view bytes) {
    std::string text;
    std::uint32_t buffer = 0;
    unsigned bits = 0;
    for (const char c : bytes) {
        buffer = (buffer << 8) | static_cast<std::uint8_t>(c);
        bits += 8;
        while (bits >= 5) {
            bits -= 5;
            text.push_back(base32hex_digits[(buffer >> bits) & 31]);
        }
        buffer &= (1u << bits) - 1;
    }
    if (bits > 0) text.push_back(base32hex_digits[(buffer << (5 - bits)) & 31]);
    return text;
}

std::string base64(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t left = bytes.size() - i;
        std::uint32_t group = static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes[i])) << 16;
        if (left > 1) group |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes[i + 1])) << 8;
        if (left > 2) group |= static_cast<std::uint8_t>(bytes[i + 2]);
        text.push_back(base64_digits[(group >> 18) & 63]);
        text.push_back(base64_digits[(group >> 12) & 63]);
        text.push_back(left > 1 ? base64_digits[(group >> 6) & 63] : '=');
        text.push_back(left > 2 ? base64_digits[group & 63] : '=');
    }
    return text;
}

std::optional<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); i += 4) {
        std::uint32_t group = 0;
        unsigned padding = 0;
        for (std::size_t j = 0; j < 4; ++j) {
            const char c = text[i + j];
            const auto digit = base64_digits.find(c);
            if (c == '=' && i + 4 == text.size() && j >= 2) {
                ++padding;
                group <<= 6;
            } else if (digit != std::string_view::npos && padding == 0) {
                group = (group << 6) | static_cast<std::uint32_t>(digit);
            } else {
                return std::nullopt;
            }
        }
        bytes.push_back(static_cast<char>(group >> 16));
        if (padding < 2) bytes.push_back(static_cast<char>((group >> 8) & 255));
        if (padding < 1) bytes.push_back(static_cast<char>(group & 255));
    }
    return bytes;
}

std::string ascii_lower(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) c = ascii_lower(c);
    return lower;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (ascii_lower(a[i]) != ascii_lower(b[i])) return false;
    }
    return true;
}

std::string_view trim_blank(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace opid
