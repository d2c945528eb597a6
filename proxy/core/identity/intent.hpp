#pragma once
// The intent of a request: what is recorded once, and what decides whether two requests are the same.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sha256.hpp"
#include "base/strong.hpp"
#include "core/identity/canonical_form.hpp"
#include "core/identity/intent_rules.hpp"

namespace opid {

// As stored. Whole enough to be canonicalised anew under another profile.
struct Intent {
    std::string method;            // as received; methods are case-sensitive
    std::string scheme_authority;  // "https://api.example.com" or with ":port"; in reverse mode that of the upstream
    std::string path;              // raw bytes
    std::string query;             // raw bytes with the leading "?"; empty when the target has none
    std::vector<std::pair<std::string, std::string>> headers;  // selected: names in lower case, in order of arrival
    std::string media_type;                                    // Content-Type as received; empty when absent
    std::string content_coding;  // Content-Encoding as received (lines joined by ", "); empty when absent
    std::string body;            // as received
    friend bool operator==(const Intent&, const Intent&) = default;
};

struct IntentLimits {
    std::size_t decoded_body = std::size_t{64} << 20;  // a body that decodes to more is compared as raw bytes
};

using CanonicalDigest = Strong<struct CanonicalDigestTag, Digest>;
using RawDigest = Strong<struct RawDigestTag, Digest>;

// The header lines of a request that `rules` make part of the intent: lower-case names, values trimmed, order kept.
// Credentials, opid's own fields and the carriers of the provider key are left out even if a profile names them.
std::vector<std::pair<std::string, std::string>> select_headers(
    const std::vector<std::pair<std::string, std::string>>& fields, const IntentRules& rules);

// The form of the body alone, content codings undone. A coding that can't be undone within the limit: raw.
CanonicalBody canonical_body_of(const Intent& intent, const IntentRules& rules, IntentLimits limits = {});

// The name of the canonical form. Digests of another form can't be compared, as little as those of another profile.
inline constexpr std::string_view intent_form = "opid-intent-1";

// FROZEN, version 1: the line intent_form, then one line a part, "name LENGTH:bytes", each ended by LF:
// method, authority, path, query, header ("header LENGTH:name LENGTH:value", sorted by name, lines of one name in
// order), media, coding (empty unless it could not be undone), and the body, named by its form ("json", "raw" …).
// The length makes every part unambiguous whatever bytes it holds. Scheme and host compare in lower case and without
// the scheme's default port; a media type without parameters, but for a charset that is not UTF-8 and for raw bodies.
std::string canonical_intent(const Intent& intent, const IntentRules& rules, IntentLimits limits = {});

// SHA-256 of canonical_intent(): decides match or mismatch, and is what an approver confirms.
CanonicalDigest canonical_digest(const Intent& intent, const IntentRules& rules, IntentLimits limits = {});
CanonicalDigest digest_of_canonical(std::string_view canonical_intent_bytes);

RawDigest raw_digest(const Intent& intent);  // SHA-256 of the body bytes as received

std::string to_hex(const CanonicalDigest& digest);
std::string to_hex(const RawDigest& digest);

}  // namespace opid
