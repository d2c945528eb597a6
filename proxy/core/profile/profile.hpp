#pragma once
// What opid knows of one provider: who it is, which requests are writes, how it treats keys, what its
// answers mean and how doubt may be ended. Read from policies/*.yaml; immutable; shared as a snapshot.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/secret.hpp"
#include "core/identity/intent_rules.hpp"
#include "core/identity/key_carrier.hpp"
#include "core/identity/key_encoding.hpp"
#include "core/operation/ladder.hpp"
#include "core/operation/verdict.hpp"
#include "core/profile/predicate.hpp"
#include "core/profile/request_matcher.hpp"
#include "core/profile/status_set.hpp"

namespace opid {

// Where the operation ID is looked for, in order; the first present one counts.
struct IdentitySource {
    enum class Kind : std::uint8_t { header, body, query };
    Kind kind = Kind::header;
    std::string name;  // header name, JSON pointer (form field: "/name"), or query name
    // Operation-Id is scoped by tenant alone; every other source by tenant and provider.
    bool is_operation_id() const;
    friend bool operator==(const IdentitySource&, const IdentitySource&) = default;
};
enum class MissingIdentity : std::uint8_t { reject, pass, observe };
struct IdentityRule {
    std::vector<IdentitySource> from;
    MissingIdentity missing = MissingIdentity::reject;
};

enum class KeySource : std::uint8_t { derived, caller };
struct KeyWindow {
    enum class Bound : std::uint8_t {
        exactly,
        at_least,
        forever,
        while_object_exists,
        while_open,
        client_chosen,
        unpublished,
    };
    Bound bound = Bound::at_least;
    Millis length{3600000};  // meaningless where unlimited()
    Millis margin{360000};
    // forever and while_object_exists: a key does not lapse by time alone.
    bool unlimited() const { return bound == Bound::forever || bound == Bound::while_object_exists; }
};

// What an answer has to look like: everything that is given has to hold.
struct AnswerMatcher {
    std::optional<StatusSet> statuses;
    std::vector<std::pair<std::string, Predicate>> body;    // JSON pointer, predicate
    std::vector<std::pair<std::string, Predicate>> header;  // field name, predicate
};

// The provider's idempotency key on this rule. carrier.kind none: the provider honours no key here.
struct KeyRule {
    KeyCarrier carrier;
    KeyEncoding encoding;
    bool quoted = false;  // sent as an RFC 9651 string, as the IETF draft has it: see wire_key()
    KeySource source = KeySource::derived;
    std::uint32_t min_length = 1;  // of a key that the caller chose, without quotes
    std::uint32_t max_length = 255;
    KeyWindow window;
    StatusSet stores;  // answers that the provider freezes under the key; default 2xx
    // The answer by which the provider shows that it honours the key. Given: until one was seen, no keyed retry.
    std::optional<AnswerMatcher> proof;

    bool present() const { return carrier.kind != KeyCarrier::Kind::none; }
    bool fits(std::string_view caller_key) const;      // visible ASCII within the lengths
    std::string wire_key(std::string_view key) const;  // as the carrier takes it
    std::string placement() const;                     // where and in what form a request carries the key; "": none
};

// Where an answer names the object: a header's value, or a member of the JSON body.
struct ReferenceSource {
    enum class Kind : std::uint8_t { header, body };
    Kind kind = Kind::body;
    std::string name;  // header name or JSON pointer
};

struct VerdictRule {
    AnswerMatcher answer;
    Verdict verdict = Verdict::unknown;
    std::optional<std::string> object;         // JSON pointer at which this answer holds the object itself
    std::optional<ReferenceSource> reference;  // where this answer points to the object
};

struct LookUpTemplate {
    std::string get;                                         // target template; see text_template.hpp
    std::string items;                                       // JSON pointer to the list; "" is the root
    std::vector<std::pair<std::string, std::string>> where;  // pointer in an item, template it must equal
    enum class Result : std::uint8_t { item, body } result = Result::item;
};

enum class RequestClass : std::uint8_t { read, write };
enum class ProblemDialect : std::uint8_t { problem, slack, graphql, jsonrpc };

struct Rule {
    std::string name;
    RequestMatcher match;
    RequestClass request_class = RequestClass::write;
    IdentityRule identity;
    KeyRule key;
    IntentRules intent;                        // with the key's carrier and the identity's sources already excluded
    std::vector<VerdictRule> verdicts;         // the rule's own first, then the profile's
    std::optional<ReferenceSource> reference;  // of a success; without it Location, then /id of a JSON body
    RecoveryPlan recovery;  // cautious while key.proof is demanded; the engine lifts that once it has seen it
    std::optional<LookUpTemplate> look_up;
    std::optional<std::string> mark;  // JSON pointer or "/field" of a form that takes the operation's mark
    bool approval_required = false;
    bool dry_run = false;
    ProblemDialect problems = ProblemDialect::problem;
};

// Credentials that opid holds for a provider.
struct ProviderCredentials {
    std::string header = "Authorization";
    Secret value;
    bool inject = false;  // also for callers' requests
};

struct UpstreamTls {
    std::string ca_file;                  // adds to the system's roots; empty: none
    std::string client_certificate_file;  // PEM, certificate and key; empty: none
};

// Where a profile's claims come from.
struct ProfileFacts {
    std::string source;
    std::string read;        // YYYY-MM-DD
    std::string confidence;  // "verified", "partial" or "unverified"
};

struct Profile {
    std::string provider;
    std::vector<std::string> hosts;  // "host", "host:port" or "*.example.com", lower case; no port: every port
    std::string upstream_scheme;     // "https" or "http"
    std::string upstream_authority;  // host[:port] without the scheme's default port
    std::string upstream_address;    // "ip:port" to dial in its place; empty: by name
    std::string upstream_base_path;  // "" or "/base", put before the path in reverse mode
    UpstreamTls tls;
    std::optional<ProviderCredentials> credentials;
    std::vector<Rule> rules;
    Rule default_rule;  // for requests that no rule matches: methods GET/HEAD/OPTIONS/TRACE read, others write
    std::vector<RequestMatcher> allow;  // empty: everything is allowed
    bool verified = true;               // false: cautious mode
    std::optional<ProfileFacts> facts;
    std::string digest;  // hex of SHA-256 of intent_form and the text it was read from
    std::string file;    // where it was read from, for messages

    // host as in ProfileSet::by_host.
    bool covers(std::string_view host, std::uint16_t port) const;
};

using ProfilePtr = std::shared_ptr<const Profile>;

// The rule for a request, and what its path pattern captured.
struct MatchedRule {
    const Rule* rule = nullptr;  // owned by the profile; never null
    PathCaptures captures;
    RequestClass request_class = RequestClass::write;
    bool allowed = true;  // false: a write, and the profile has an allow-list that doesn't name it
};
MatchedRule match_rule(const Profile& profile, const RequestView& request);

// True when deciding about this request needs its body (GraphQL, JSON-RPC, body predicates). path without query.
// A rule before which no such rule stands decides alone. Body identity is no matter of matching: see
// identity.from of the matched rule.
bool matching_needs_body(const Profile& profile, std::string_view method, std::string_view path);

std::string_view to_word(MissingIdentity missing);
std::string_view to_word(KeySource source);
std::string_view to_word(KeyWindow::Bound bound);
std::string_view to_word(RequestClass request_class);
std::string_view to_word(ProblemDialect dialect);

}  // namespace opid
