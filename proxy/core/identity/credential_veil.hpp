#pragma once
// Credentials in a query: some providers take them there, and what is recorded or shown must not hold them.
#include <string>
#include <string_view>

namespace opid {

// The target with "***" and a fingerprint in place of every value that, by its name, may be a credential: a name that
// ends in key, or holds token, secret, password, signature or the like. A name that only looks like one is veiled,
// too, so a veiled value is compared like any other: two veiled targets are equal where the values are. The
// fingerprint is a salted digest of 128 bits; with a salt of its own for each operation it tells nothing across them.
std::string veiled_target(std::string_view target, std::string_view salt);

// True when something in it is, or would be, veiled.
bool has_credentials(std::string_view target);

// True when the targets, veiled or not, are the same but for such values.
bool same_but_credentials(std::string_view a, std::string_view b);

}  // namespace opid
