#pragma once
// Credentials in a query: some providers take them there, and what is recorded or shown must not hold them.
#include <string>
#include <string_view>

namespace opid {

// The target with "***" in place of every value that, by its name, may be a credential: key, sig, code …, and whatever
// holds token, secret, password, signature or the like. A name that only looks like one is veiled, too.
std::string veiled_target(std::string_view target);

// True when something in it is, or would be, veiled.
bool has_credentials(std::string_view target);

}  // namespace opid
