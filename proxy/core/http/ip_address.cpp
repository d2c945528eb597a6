#include "core/http/ip_address.hpp"

#include <algorithm>
#include <charconv>

#include "core/http/octets.hpp"

namespace opid::http {
namespace {

using Groups = std::array<std::uint16_t, 8>;

std::optional<IpAddress> parse_dotted_quad(std::string_view text) {
    IpAddress::V4 bytes{};
    for (std::size_t part = 0; part < 4; ++part) {
        std::size_t digits = 0;
        unsigned value = 0;
        while (digits < text.size() && digits < 4 && is_digit(text[digits])) {
            value = value * 10 + static_cast<unsigned>(text[digits] - '0');
            ++digits;
        }
        if (digits == 0 || value > 255 || (digits > 1 && text[0] == '0')) return std::nullopt;
        bytes[part] = static_cast<std::uint8_t>(value);
        text.remove_prefix(digits);
        if (part == 3) break;
        if (text.empty() || text[0] != '.') return std::nullopt;
        text.remove_prefix(1);
    }
    if (!text.empty()) return std::nullopt;
    return IpAddress(bytes);
}

// Reads the groups before or behind `::`. An IPv4 tail counts as two. Gives how many, or nothing.
std::optional<std::size_t> read_groups(std::string_view text, bool tail_allowed, Groups& groups) {
    std::size_t count = 0;
    if (text.empty()) return count;
    for (;;) {
        const std::size_t colon = text.find(':');
        const std::string_view group = text.substr(0, colon);
        const bool last = colon == std::string_view::npos;
        if (last && tail_allowed && group.find('.') != std::string_view::npos) {
            const auto tail = parse_dotted_quad(group);
            if (!tail || count > 6) return std::nullopt;
            const auto& bytes = tail->bytes();
            groups[count++] = static_cast<std::uint16_t>(bytes[0] << 8 | bytes[1]);
            groups[count++] = static_cast<std::uint16_t>(bytes[2] << 8 | bytes[3]);
            return count;
        }
        unsigned value = 0;
        const auto done = std::from_chars(group.data(), group.data() + group.size(), value, 16);
        if (group.empty() || group.size() > 4 || done.ec != std::errc{} || done.ptr != group.data() + group.size()) {
            return std::nullopt;
        }
        if (count == 8) return std::nullopt;
        groups[count++] = static_cast<std::uint16_t>(value);
        if (last) return count;
        text.remove_prefix(colon + 1);
    }
}

std::optional<IpAddress> parse_v6(std::string_view text) {
    Groups groups{};
    const std::size_t gap = text.find("::");
    if (gap == std::string_view::npos) {
        const auto count = read_groups(text, true, groups);
        if (!count || *count != 8) return std::nullopt;
    } else {
        Groups tail{};
        const auto before = read_groups(text.substr(0, gap), false, groups);
        const auto behind = read_groups(text.substr(gap + 2), true, tail);
        if (!before || !behind || *before + *behind > 7) return std::nullopt;
        std::copy_n(tail.begin(), *behind, groups.begin() + static_cast<std::ptrdiff_t>(8 - *behind));
    }
    IpAddress::V6 bytes{};
    for (std::size_t i = 0; i < 8; ++i) {
        bytes[2 * i] = static_cast<std::uint8_t>(groups[i] >> 8);
        bytes[2 * i + 1] = static_cast<std::uint8_t>(groups[i] & 0xff);
    }
    return IpAddress(bytes);
}

std::optional<std::uint64_t> parse_lax_part(std::string_view text) {
    int base = 10;
    if (text.size() >= 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
        base = 16;
        text.remove_prefix(2);
        if (text.empty()) return 0;
    } else if (text.size() > 1 && text[0] == '0') {
        base = 8;
    }
    std::uint64_t value = 0;
    const auto done = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (text.empty() || done.ec != std::errc{} || done.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string dotted(const IpAddress::V6& bytes, std::size_t from) {
    std::string text;
    for (std::size_t i = 0; i < 4; ++i) {
        if (i > 0) text += '.';
        text += std::to_string(bytes[from + i]);
    }
    return text;
}

// RFC 5952: the longest run of at least two zero groups, the first of equals, becomes `::`.
std::string v6_text(const IpAddress::V6& bytes) {
    const auto group = [&](std::size_t i) { return static_cast<unsigned>(bytes[2 * i] << 8 | bytes[2 * i + 1]); };
    const bool mapped = std::all_of(bytes.begin(), bytes.begin() + 10, [](auto b) { return b == 0; }) &&
                        bytes[10] == 0xff && bytes[11] == 0xff;
    if (mapped) return "::ffff:" + dotted(bytes, 12);
    std::size_t best = 8;
    std::size_t best_length = 1;
    for (std::size_t i = 0; i < 8; ++i) {
        std::size_t length = 0;
        while (i + length < 8 && group(i + length) == 0) ++length;
        if (length > best_length) {
            best = i;
            best_length = length;
        }
    }
    std::string text;
    for (std::size_t i = 0; i < 8;) {
        if (i == best) {
            text += "::";
            i += best_length;
            continue;
        }
        if (!text.empty() && text.back() != ':') text += ':';
        char digits[4];
        const auto done = std::to_chars(digits, digits + sizeof digits, group(i), 16);
        text.append(digits, done.ptr);
        ++i;
    }
    return text;
}

}  // namespace

IpAddress::IpAddress(const V4& bytes) : bytes_{}, v4_(true) { std::copy(bytes.begin(), bytes.end(), bytes_.begin()); }

std::string IpAddress::to_string() const { return v4_ ? dotted(bytes_, 0) : v6_text(bytes_); }

std::optional<IpAddress> parse_ip(std::string_view text) {
    return text.find(':') == std::string_view::npos ? parse_dotted_quad(text) : parse_v6(text);
}

std::optional<IpAddress> parse_lax_ipv4(std::string_view text) {
    std::array<std::uint64_t, 4> parts{};
    std::size_t count = 0;
    for (bool more = true; more; ++count) {
        if (count == 4) return std::nullopt;
        const std::size_t dot = text.find('.');
        more = dot != std::string_view::npos;
        const auto part = parse_lax_part(text.substr(0, dot));
        if (!part) return std::nullopt;
        parts[count] = *part;
        if (more) text.remove_prefix(dot + 1);
    }
    const std::uint64_t last_max = (std::uint64_t{1} << (8 * (5 - count))) - 1;
    if (parts[count - 1] > last_max) return std::nullopt;
    std::uint64_t address = parts[count - 1];
    for (std::size_t i = 0; i + 1 < count; ++i) {
        if (parts[i] > 255) return std::nullopt;
        address |= parts[i] << (8 * (3 - i));
    }
    return IpAddress(
        IpAddress::V4{static_cast<std::uint8_t>(address >> 24), static_cast<std::uint8_t>(address >> 16 & 255),
                      static_cast<std::uint8_t>(address >> 8 & 255), static_cast<std::uint8_t>(address & 255)});
}

}  // namespace opid::http
