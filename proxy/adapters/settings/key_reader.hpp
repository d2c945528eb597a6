#pragma once
// What a profile or rule says about the operation ID, the provider's key and the intent.
#include <optional>
#include <string>

#include "adapters/settings/map_reader.hpp"
#include "core/profile/profile.hpp"

namespace opid {

// Reads over `key`: what the file leaves out stays as it is (the profile's word, for a rule).
void read_key_rule(const YamlNode& node, const std::string& path, FileReading& reading, KeyRule& key);

// What holds where a profile says nothing: no key, and if one comes: 1 h, stores 2xx.
KeyRule default_key_rule();

// A key that the provider would cut, refuse or confuse is worse than none. `at` is where to say so.
void check_key_rule(const KeyRule& key, const YamlNode& at, const std::string& path, FileReading& reading);

IdentityRule default_identity_rule();
void read_identity(const YamlNode& node, const std::string& path, FileReading& reading, IdentityRule& identity);

// Adds to `intent`: a rule's lists stand beside those of its profile.
void read_intent(const YamlNode& node, const std::string& path, FileReading& reading, IntentRules& intent);

}  // namespace opid
