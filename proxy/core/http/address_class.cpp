#include "core/http/address_class.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace opid::http {
namespace {

struct V4Block {
    std::uint32_t base;
    unsigned bits;
    AddressClass kind;
};

constexpr std::uint32_t v4(unsigned a, unsigned b, unsigned c, unsigned d) { return a << 24 | b << 16 | c << 8 | d; }

// First match wins. IANA's special-purpose registry, and before it the addresses at which clouds serve credentials.
constexpr std::array<V4Block, 26> v4_blocks{{
    {v4(169, 254, 169, 254), 32, AddressClass::metadata},  // AWS, Azure, GCP and most others
    {v4(169, 254, 170, 2), 32, AddressClass::metadata},    // AWS ECS task credentials
    {v4(169, 254, 170, 23), 32, AddressClass::metadata},   // AWS EKS pod identity
    {v4(169, 254, 0, 23), 32, AddressClass::metadata},     // Tencent
    {v4(100, 100, 100, 200), 32, AddressClass::metadata},  // Alibaba
    {v4(192, 0, 0, 192), 32, AddressClass::metadata},      // Oracle
    {v4(168, 63, 129, 16), 32, AddressClass::metadata},    // Azure host agent
    {v4(0, 0, 0, 0), 8, AddressClass::unspecified},       {v4(10, 0, 0, 0), 8, AddressClass::private_use},
    {v4(100, 64, 0, 0), 10, AddressClass::cgnat},         {v4(127, 0, 0, 0), 8, AddressClass::loopback},
    {v4(169, 254, 0, 0), 16, AddressClass::link_local},   {v4(172, 16, 0, 0), 12, AddressClass::private_use},
    {v4(192, 0, 0, 0), 24, AddressClass::reserved},       {v4(192, 0, 2, 0), 24, AddressClass::reserved},
    {v4(192, 31, 196, 0), 24, AddressClass::reserved},    {v4(192, 52, 193, 0), 24, AddressClass::reserved},
    {v4(192, 88, 99, 0), 24, AddressClass::reserved},     {v4(192, 168, 0, 0), 16, AddressClass::private_use},
    {v4(192, 175, 48, 0), 24, AddressClass::reserved},    {v4(198, 18, 0, 0), 15, AddressClass::reserved},
    {v4(198, 51, 100, 0), 24, AddressClass::reserved},    {v4(203, 0, 113, 0), 24, AddressClass::reserved},
    {v4(224, 0, 0, 0), 4, AddressClass::multicast},       {v4(255, 255, 255, 255), 32, AddressClass::broadcast},
    {v4(240, 0, 0, 0), 4, AddressClass::reserved},
}};

struct V6Block {
    std::array<std::uint8_t, 16> base;
    unsigned bits;
    AddressClass kind;
};

constexpr std::array<V6Block, 13> v6_blocks{{
    {{}, 128, AddressClass::unspecified},
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128, AddressClass::loopback},
    {{0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0x54}, 128, AddressClass::metadata},  // AWS
    {{0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x23}, 128, AddressClass::metadata},  // AWS EKS
    {{0xfd, 0x20, 0, 0xce, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0x54}, 128, AddressClass::metadata},  // GCP
    {{0xfc}, 7, AddressClass::private_use},
    {{0xfe, 0x80}, 10, AddressClass::link_local},
    {{0xfe, 0xc0}, 10, AddressClass::private_use},
    {{0xff}, 8, AddressClass::multicast},
    {{0x20, 1}, 23, AddressClass::reserved},
    {{0x20, 1, 0x0d, 0xb8}, 32, AddressClass::reserved},
    {{0x3f, 0xff}, 20, AddressClass::reserved},
    {{0x20}, 3, AddressClass::public_address},  // all that is allocated for global use
}};

bool same_prefix(const std::uint8_t* a, const std::uint8_t* b, unsigned bits) {
    const unsigned whole = bits / 8;
    if (!std::equal(a, a + whole, b)) return false;
    const unsigned rest = bits % 8;
    if (rest == 0) return true;
    const auto mask = static_cast<std::uint8_t>(0xff00u >> rest);
    return ((a[whole] ^ b[whole]) & mask) == 0;
}

AddressClass classify_v4(const IpAddress& address) {
    const auto& bytes = address.bytes();
    const std::uint32_t value = v4(bytes[0], bytes[1], bytes[2], bytes[3]);
    for (const V4Block& block : v4_blocks) {
        const std::uint32_t mask = ~std::uint32_t{0} << (32 - block.bits);
        if ((value & mask) == block.base) return block.kind;
    }
    return AddressClass::public_address;
}

IpAddress v4_at(const IpAddress::V6& bytes, std::size_t from, std::uint8_t flip = 0) {
    IpAddress::V4 inner{};
    for (std::size_t i = 0; i < 4; ++i) inner[i] = static_cast<std::uint8_t>(bytes[from + i] ^ flip);
    return IpAddress(inner);
}

}  // namespace

std::optional<IpAddress> embedded_ipv4(const IpAddress& address) {
    if (address.is_v4()) return std::nullopt;
    constexpr std::uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    constexpr std::uint8_t translated[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0};
    constexpr std::uint8_t compatible[12] = {};
    constexpr std::uint8_t nat64[12] = {0, 0x64, 0xff, 0x9b};
    constexpr std::uint8_t six_to_four[2] = {0x20, 2};
    constexpr std::uint8_t teredo[4] = {0x20, 1, 0, 0};
    const auto& bytes = address.bytes();
    const std::uint8_t* const at = bytes.data();
    if (same_prefix(at, mapped, 96) || same_prefix(at, translated, 96) || same_prefix(at, nat64, 96))
        return v4_at(bytes, 12);
    if (same_prefix(at, compatible, 96)) {
        const bool special = bytes[12] == 0 && bytes[13] == 0 && bytes[14] == 0 && bytes[15] <= 1;  // :: and ::1
        if (!special) return v4_at(bytes, 12);
    }
    if (same_prefix(at, six_to_four, 16)) return v4_at(bytes, 2);
    if (same_prefix(at, teredo, 32)) return v4_at(bytes, 12, 0xff);
    return std::nullopt;
}

AddressClass classify(const IpAddress& address) {
    if (address.is_v4()) return classify_v4(address);
    if (const auto inner = embedded_ipv4(address)) return classify_v4(*inner);
    for (const V6Block& block : v6_blocks) {
        if (same_prefix(address.bytes().data(), block.base.data(), block.bits)) return block.kind;
    }
    return AddressClass::reserved;
}

std::string_view to_string(AddressClass kind) {
    switch (kind) {
        case AddressClass::public_address: return "public";
        case AddressClass::unspecified: return "unspecified";
        case AddressClass::loopback: return "loopback";
        case AddressClass::link_local: return "link_local";
        case AddressClass::private_use: return "private";
        case AddressClass::cgnat: return "cgnat";
        case AddressClass::metadata: return "metadata";
        case AddressClass::multicast: return "multicast";
        case AddressClass::broadcast: return "broadcast";
        case AddressClass::reserved: return "reserved";
    }
    return "reserved";
}

bool is_private(AddressClass kind) { return kind != AddressClass::public_address && kind != AddressClass::metadata; }

bool is_metadata_name(std::string_view host) {
    constexpr std::array<std::string_view, 5> names{"metadata.google.internal", "metadata.goog", "metadata",
                                                    "instance-data", "instance-data.ec2.internal"};
    return std::find(names.begin(), names.end(), host) != names.end();
}

std::optional<Cidr> Cidr::parse(std::string_view text) {
    const std::size_t slash = text.find('/');
    const auto base = parse_ip(text.substr(0, slash));
    if (!base) return std::nullopt;
    const unsigned width = base->is_v4() ? 32 : 128;
    unsigned bits = width;
    if (slash != std::string_view::npos) {
        const std::string_view digits = text.substr(slash + 1);
        const char* const end = digits.data() + digits.size();
        const auto done = std::from_chars(digits.data(), end, bits);
        if (digits.empty() || done.ec != std::errc{} || done.ptr != end || bits > width) return std::nullopt;
    }
    for (unsigned bit = bits; bit < width; ++bit) {
        if ((base->bytes()[bit / 8] >> (7 - bit % 8) & 1) != 0) return std::nullopt;
    }
    return Cidr(*base, bits);
}

bool Cidr::contains(const IpAddress& address) const {
    if (address.is_v4() == base_.is_v4()) return same_prefix(address.bytes().data(), base_.bytes().data(), bits_);
    if (address.is_v4()) return false;
    constexpr std::uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    if (!same_prefix(address.bytes().data(), mapped, 96)) return false;
    return contains(v4_at(address.bytes(), 12));
}

std::string Cidr::to_string() const { return base_.to_string() + "/" + std::to_string(bits_); }

}  // namespace opid::http
