#include "core/identity/key_encoding.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/encoding.hpp"
#include "base/sha256.hpp"
#include "core/identity/netstring.hpp"

namespace opid {
namespace {

constexpr double bits_min = 64;
constexpr std::size_t chars_max = 255;
constexpr std::size_t uuid_chars = 36;

struct AlphabetRow {
    KeyAlphabet alphabet;
    std::string_view name;
    std::string_view characters;  // empty for UUIDs
};

constexpr AlphabetRow rows[] = {
    {KeyAlphabet::base32hex, "base32hex", "0123456789abcdefghijklmnopqrstuv"},
    {KeyAlphabet::hex, "hex", "0123456789abcdef"},
    {KeyAlphabet::base64url, "base64url", "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"},
    {KeyAlphabet::digits, "digits", "0123456789"},
    {KeyAlphabet::alnum, "alnum", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"},
    {KeyAlphabet::uuid4, "uuid4", ""},
    {KeyAlphabet::uuid8, "uuid8", ""},
};

const AlphabetRow& row_of(KeyAlphabet alphabet) { return rows[static_cast<std::size_t>(alphabet)]; }
bool is_uuid(KeyAlphabet alphabet) { return alphabet == KeyAlphabet::uuid4 || alphabet == KeyAlphabet::uuid8; }

// An endless stream of bytes that depends on every part of the subject: SHA-256 in counter mode.
class KeyStream {
public:
    explicit KeyStream(const KeySubject& subject) : seed_("opid-provider-key-1\n") {
        append_netstring(seed_, subject.tenant);
        append_netstring(seed_, subject.provider_scope);
        append_netstring(seed_, subject.operation);
        append_netstring(seed_, std::to_string(subject.generation));
    }

    std::uint8_t next() {
        if (used_ == block_.size()) {
            block_ = sha256(seed_ + ":" + std::to_string(counter_++));
            used_ = 0;
        }
        return block_[used_++];
    }

private:
    std::string seed_;
    std::uint32_t counter_ = 0;
    Digest block_{};
    std::size_t used_ = sizeof(Digest);
};

std::string uuid(KeyStream& stream, std::uint8_t version) {
    std::string bytes;
    for (int i = 0; i < 16; ++i) bytes.push_back(static_cast<char>(stream.next()));
    bytes[6] = static_cast<char>((static_cast<std::uint8_t>(bytes[6]) & 0x0F) | (version << 4));
    bytes[8] = static_cast<char>((static_cast<std::uint8_t>(bytes[8]) & 0x3F) | 0x80);
    std::string text = hex(bytes);
    for (const std::size_t dash : {20u, 16u, 12u, 8u}) text.insert(dash, 1, '-');
    return text;
}

}  // namespace

Result<KeyEncoding> KeyEncoding::make(KeyAlphabet alphabet, std::size_t length) {
    if (is_uuid(alphabet)) {
        if (length == 0 || length == uuid_chars) return KeyEncoding(alphabet, uuid_chars);
        return Error(ErrorKind::invalid, "a key encoded as UUID has 36 characters: leave its length out");
    }
    if (length < 1 || length > chars_max) {
        return Error(ErrorKind::invalid, fmt::format("a key length of {} is not between 1 and {}", length, chars_max));
    }
    const KeyEncoding encoding(alphabet, length);
    if (encoding.bits() < bits_min) {
        const double each = encoding.bits() / static_cast<double>(length);
        return Error(
            ErrorKind::invalid,
            fmt::format("{} characters of {} hold {:.0f} bits; two operations could get one key: use {} or more",
                        length, to_text(alphabet), std::floor(encoding.bits()), std::ceil(bits_min / each)));
    }
    return encoding;
}

double KeyEncoding::bits() const {
    if (is_uuid(alphabet_)) return 122;
    return static_cast<double>(length_) * std::log2(static_cast<double>(row_of(alphabet_).characters.size()));
}

Result<KeyAlphabet> parse_key_alphabet(std::string_view name) {
    if (name == "uuid") return KeyAlphabet::uuid4;
    for (const auto& row : rows) {
        if (row.name == name) return row.alphabet;
    }
    return Error(ErrorKind::invalid,
                 fmt::format("key alphabet '{}': use base32hex, hex, base64url, digits, alnum or uuid", name));
}

std::string_view to_text(KeyAlphabet alphabet) { return row_of(alphabet).name; }

std::string derive_provider_key(const KeySubject& subject, const KeyEncoding& encoding) {
    KeyStream stream(subject);
    if (is_uuid(encoding.alphabet())) return uuid(stream, encoding.alphabet() == KeyAlphabet::uuid4 ? 4 : 8);
    const std::string_view characters = row_of(encoding.alphabet()).characters;
    // Bytes beyond the largest multiple are skipped, so that every character is equally likely.
    const std::size_t usable = 256 - 256 % characters.size();
    std::string key;
    while (key.size() < encoding.length()) {
        const std::size_t byte = stream.next();
        if (byte < usable) key.push_back(characters[byte % characters.size()]);
    }
    return key;
}

}  // namespace opid
