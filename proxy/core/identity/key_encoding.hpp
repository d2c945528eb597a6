#pragma once
// The provider key of an operation: derived from a digest, never from a cut ID, so that it fits the provider's limits
// and stays the same on every attempt and after every restart. FROZEN: keys of open operations depend on it.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace opid {

enum class KeyAlphabet : std::uint8_t {
    base32hex,  // 0-9a-v
    hex,        // 0-9a-f
    base64url,  // A-Za-z0-9-_
    digits,     // 0-9
    alnum,      // 0-9A-Za-z
    uuid4,      // the shape of a random UUID, for providers that check version and variant
    uuid8,      // RFC 9562 section 5.8
};

class KeyEncoding {
public:
    KeyEncoding() = default;  // base32hex, 32 characters: 160 bits
    // Error (invalid) when the length is not 1 to 255 or leaves less than 64 bits. A UUID has 36 characters;
    // its length may be given as 0 or 36.
    static Result<KeyEncoding> make(KeyAlphabet alphabet, std::size_t length);

    KeyAlphabet alphabet() const { return alphabet_; }
    std::size_t length() const { return length_; }
    double bits() const;
    friend bool operator==(const KeyEncoding&, const KeyEncoding&) = default;

private:
    KeyEncoding(KeyAlphabet alphabet, std::size_t length) : alphabet_(alphabet), length_(length) {}
    KeyAlphabet alphabet_ = KeyAlphabet::base32hex;
    std::size_t length_ = 32;
};

// "base32hex", "hex", "base64url", "digits", "alnum", "uuid" (version 4 shape), "uuid4", "uuid8".
Result<KeyAlphabet> parse_key_alphabet(std::string_view name);
std::string_view to_text(KeyAlphabet alphabet);

struct KeySubject {
    std::string_view tenant;
    std::string_view provider_scope;  // the provider, or a scope of it in which its keys must be unique
    std::string_view operation;       // the operation's identity: its ID together with what scopes it
    std::uint32_t generation = 1;     // the next one only after proof that nothing took effect
};

// Pure and total. Two subjects that differ in any part give unrelated keys.
std::string derive_provider_key(const KeySubject& subject, const KeyEncoding& encoding);

}  // namespace opid
