#include "adapters/settings/profile_reader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "adapters/settings/files.hpp"
#include "adapters/settings/key_reader.hpp"
#include "adapters/settings/match_reader.hpp"
#include "adapters/settings/rule_reader.hpp"
#include "base/sha256.hpp"
#include "core/http/authority.hpp"
#include "core/http/fields.hpp"
#include "core/identity/intent.hpp"
#include "core/profile/profile_set.hpp"

namespace opid {
namespace {

enum class Confidence : std::uint8_t { verified, partial, unverified };

// "host", "host:port" or "*.example.com" in canonical spelling.
std::optional<std::string> canonical_host(std::string_view text) {
    const bool wildcard = text.substr(0, 2) == "*.";
    const auto authority = http::parse_authority(wildcard ? text.substr(2) : text);
    if (!authority || (wildcard && authority->ip)) return std::nullopt;
    std::string host = wildcard ? "*." : "";
    host += authority->host_text();
    if (authority->port_given) host += fmt::format(":{}", authority->port);
    return host;
}

std::string authority_text(const http::Authority& authority, std::string_view scheme) {
    const std::uint16_t standard = scheme == "https" ? 443 : 80;
    if (!authority.port_given || authority.port == standard) return authority.host_text();
    return authority.to_string();
}

class ProfileReader {
public:
    ProfileReader(MapReader& root, Profile& out) : root_(root), reading_(root.reading()), out_(out) {}

    void read() {
        provider();
        hosts();
        upstream();
        tls();
        credentials();
        facts();
        defaults();
        rules();
        allow();
        root_.finish();
    }

private:
    void provider() {
        if (root_.require("provider") == nullptr || !root_.text("provider", out_.provider)) return;
        const std::string& name = out_.provider;
        const bool plain = name.size() <= 63 && std::all_of(name.begin(), name.end(), [](char c) {
                               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
                           });
        if (!plain)
            root_.problem(
                "provider",
                "a provider's name has up to 63 lower-case letters, digits, '-' and '_': it is a path in reverse mode");
    }

    void hosts() {
        const YamlNode* node = root_.require("hosts");
        if (node == nullptr) return;
        for (const std::string& text : texts_of(*node, "hosts", reading_, "a list of hosts")) {
            auto host = canonical_host(text);
            if (!host) {
                root_.problem("hosts", fmt::format("expected host, host:port or *.example.com, found '{}'", text));
            } else if (std::find(out_.hosts.begin(), out_.hosts.end(), *host) != out_.hosts.end()) {
                root_.problem("hosts", fmt::format("'{}' stands there twice", *host));
            } else {
                out_.hosts.push_back(std::move(*host));
            }
        }
        if (node->is_list() && node->items.empty()) root_.problem("hosts", "is empty");
    }

    void upstream() {
        out_.upstream_scheme = "https";
        std::string text;
        if (root_.text("upstream", text)) {
            upstream_url(text);
        } else {
            const auto first = std::find_if(out_.hosts.begin(), out_.hosts.end(),
                                            [](const std::string& host) { return host.front() != '*'; });
            const auto authority = first == out_.hosts.end() ? std::nullopt : http::parse_authority(*first);
            if (authority) out_.upstream_authority = authority_text(*authority, "https");
        }
        if (!root_.text("upstream_address", text)) return;
        const auto address = http::parse_authority(text);
        if (address && address->ip && address->port_given) {
            out_.upstream_address = address->to_string();
        } else {
            root_.problem("upstream_address",
                          fmt::format("expected an address such as 127.0.0.1:9443, found '{}'", text));
        }
    }

    void upstream_url(std::string_view url) {
        const std::size_t colon = url.find("://");
        const std::string_view scheme = url.substr(0, colon);
        const std::string_view rest = colon == std::string_view::npos ? std::string_view() : url.substr(colon + 3);
        const std::size_t slash = rest.find('/');
        const auto authority = http::parse_authority(rest.substr(0, slash));
        std::string_view base = slash == std::string_view::npos ? std::string_view() : rest.substr(slash);
        while (!base.empty() && base.back() == '/') base.remove_suffix(1);
        if ((scheme != "https" && scheme != "http") || !authority ||
            base.find_first_of("?# ") != std::string_view::npos) {
            root_.problem("upstream",
                          fmt::format("expected http:// or https:// with a host and maybe a path, found '{}'", url));
            return;
        }
        out_.upstream_scheme = scheme;
        out_.upstream_authority = authority_text(*authority, scheme);
        out_.upstream_base_path = base;
    }

    void tls() {
        const YamlNode* node = root_.get("tls");
        if (node == nullptr) return;
        MapReader map(*node, "tls", reading_);
        const auto file = [&](std::string_view key, std::string& out) {
            const YamlNode* at = map.get(key);
            if (at == nullptr) return;
            if (auto path = read_file_reference(*at, map.path_of(key), reading_)) out = std::move(*path);
        };
        file("ca", out_.tls.ca_file);
        file("client_certificate", out_.tls.client_certificate_file);
        map.finish();
    }

    void credentials() {
        const YamlNode* node = root_.get("credentials");
        if (node == nullptr) return;
        MapReader map(*node, "credentials", reading_);
        ProviderCredentials credentials;
        if (map.text("header", credentials.header) && !http::is_token(credentials.header)) {
            map.problem("header", fmt::format("'{}' is no header name", credentials.header));
        }
        if (const YamlNode* at = map.require("value")) {
            if (auto secret = read_secret(*at, "credentials.value", reading_)) {
                if (!http::is_field_value(secret->reveal()))
                    map.problem("value", "holds characters that a header can't carry");
                credentials.value = std::move(*secret);
            }
        }
        map.flag("inject", credentials.inject);
        map.finish();
        out_.credentials = std::move(credentials);
    }

    void facts() {
        const YamlNode* node = root_.get("facts");
        if (node == nullptr) return;
        MapReader map(*node, "facts", reading_);
        ProfileFacts facts;
        if (const YamlNode* at = map.get("source")) {
            const auto sources = texts_of(*at, "facts.source", reading_, "a text or a list of them");
            facts.source = fmt::format("{}", fmt::join(sources, "; "));
        }
        map.text("read", facts.read);
        static constexpr Words<Confidence, 3> words{{{"verified", Confidence::verified},
                                                     {"partial", Confidence::partial},
                                                     {"unverified", Confidence::unverified}}};
        Confidence confidence = Confidence::unverified;  // who states where facts come from states how sure they are
        if (map.require("confidence") != nullptr && map.word("confidence", confidence, words)) {
            map.text("confidence", facts.confidence);
        }
        map.finish();
        out_.verified = confidence == Confidence::verified;
        out_.facts = std::move(facts);
    }

    void defaults() {
        defaults_.identity = default_identity_rule();
        defaults_.key = default_key_rule();
        defaults_.verified = out_.verified;
        if (const YamlNode* at = root_.get("identity")) read_identity(*at, "identity", reading_, defaults_.identity);
        if (const YamlNode* at = root_.get("key")) {
            read_key_rule(*at, "key", reading_, defaults_.key);
            check_key_rule(defaults_.key, *at, "key", reading_);
            if (defaults_.key.carrier.kind == KeyCarrier::Kind::path) {
                root_.problem("key", "a path carrier belongs into a rule whose match.path has the {name}");
            }
        }
        if (const YamlNode* at = root_.get("intent")) read_intent(*at, "intent", reading_, defaults_.intent);
        if (const YamlNode* at = root_.get("verdicts")) defaults_.verdicts = read_verdicts(*at, "verdicts", reading_);
        if (const YamlNode* at = root_.get("reference"))
            defaults_.reference = read_reference(*at, "reference", reading_);
        if (const YamlNode* at = root_.get("recovery")) defaults_.ladder = read_ladder(*at, "recovery", reading_);
        read_dialect(root_, defaults_.problems);
        out_.default_rule = make_default_rule(defaults_);
    }

    void rules() {
        const YamlNode* node = root_.get("rules");
        if (node == nullptr) return;
        if (!node->is_list() && !node->is_null()) {
            root_.problem("rules", fmt::format("expected a list of rules, found {}", found_text(*node)));
        }
        for (std::size_t i = 0; i < node->items.size(); ++i) {
            const std::string path = item_path("rules", i);
            Rule rule = read_rule(node->items[i], path, reading_, defaults_);
            if (rule.name.empty()) rule.name = fmt::format("rule-{}", i + 1);
            const bool taken = std::any_of(out_.rules.begin(), out_.rules.end(),
                                           [&](const Rule& other) { return other.name == rule.name; });
            if (taken)
                reading_.problem(node->items[i], path, fmt::format("another rule is called '{}' too", rule.name));
            out_.rules.push_back(std::move(rule));
        }
    }

    void allow() {
        const YamlNode* node = root_.get("allow");
        if (node == nullptr) return;
        if (!node->is_list() || node->items.empty()) {
            root_.problem("allow", "expected a list of requests; without the key everything is allowed");
        }
        for (std::size_t i = 0; i < node->items.size(); ++i) {
            out_.allow.push_back(read_match(node->items[i], item_path("allow", i), reading_));
        }
    }

    MapReader& root_;
    FileReading& reading_;
    Profile& out_;
    RuleDefaults defaults_;
};

}  // namespace

Profile read_profile(const YamlNode& root, std::string_view text, FileReading& reading) {
    Profile profile;
    profile.file = reading.file;
    profile.digest = to_hex(sha256(std::string(intent_form).append("\n").append(text)));
    MapReader map(root, {}, reading);
    ProfileReader(map, profile).read();
    return profile;
}

}  // namespace opid
