#include "core/identity/intent.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/encoding.hpp"
#include "core/identity/content_decoding.hpp"
#include "core/identity/form_fields.hpp"
#include "core/identity/netstring.hpp"
#include "core/identity/target_form.hpp"

namespace opid {
namespace {

bool carries_key(const IntentRules& rules, std::string_view header) {
    return std::any_of(rules.key_carriers.begin(), rules.key_carriers.end(), [&](const KeyCarrier& carrier) {
        return carrier.kind == KeyCarrier::Kind::header && equal_ignoring_case(carrier.name, header);
    });
}

bool part_of_intent(const IntentRules& rules, std::string_view header) {
    const bool named = std::any_of(rules.headers.begin(), rules.headers.end(),
                                   [&](const std::string& name) { return equal_ignoring_case(name, header); });
    return named && !never_in_intent(header) && !carries_key(rules, header);
}

void append_line(std::string& out, std::string_view name, std::string_view bytes) {
    out += name;
    out.push_back(' ');
    append_netstring(out, bytes);
    out.push_back('\n');
}

std::string default_port(std::string_view scheme_authority) {
    if (scheme_authority.rfind("https:", 0) == 0) return ":443";
    if (scheme_authority.rfind("http:", 0) == 0) return ":80";
    return {};
}

bool query_name_ignored(std::string_view raw_name, const IntentRules& rules) {
    const auto name = form_decoded(raw_name);
    if (!name) return false;
    if (std::find(rules.ignore_query.begin(), rules.ignore_query.end(), *name) != rules.ignore_query.end()) return true;
    return std::any_of(rules.key_carriers.begin(), rules.key_carriers.end(), [&](const KeyCarrier& carrier) {
        return carrier.kind == KeyCarrier::Kind::query && carrier.name == *name;
    });
}

}  // namespace

std::string canonical_authority(std::string_view scheme_authority) {
    std::string lower = ascii_lower(scheme_authority);
    const std::string port = default_port(lower);
    if (!port.empty() && lower.size() > port.size() &&
        lower.compare(lower.size() - port.size(), port.size(), port) == 0) {
        lower.resize(lower.size() - port.size());
    }
    return lower;
}

std::string canonical_path(std::string_view path, const IntentRules& rules) {
    for (const auto& carrier : rules.key_carriers) {
        if (carrier.kind != KeyCarrier::Kind::path) continue;
        const auto capture = find_path_capture(carrier.path_glob, path, carrier.name);
        if (!capture) continue;
        return fmt::format("{}{{{}}}{}", path.substr(0, capture->first), carrier.name,
                           path.substr(capture->first + capture->second));
    }
    return std::string(path);
}

std::string canonical_query(std::string_view query, const IntentRules& rules) {
    if (query.empty() || query.front() != '?') return std::string(query);
    const std::string_view pairs = query.substr(1);
    std::string kept;
    bool removed = false;
    for (std::size_t at = 0; at <= pairs.size();) {
        const std::size_t end = std::min(pairs.find('&', at), pairs.size());
        const std::string_view pair = pairs.substr(at, end - at);
        if (!pair.empty() && query_name_ignored(pair.substr(0, pair.find('=')), rules)) {
            removed = true;
        } else {
            kept.push_back(kept.empty() ? '?' : '&');
            kept += pair;
        }
        at = end + 1;
    }
    return removed ? kept : std::string(query);
}

std::string canonical_media(const Intent& intent, BodyForm form) {
    const std::string essence = media_essence(intent.media_type);
    if (form == BodyForm::raw) {  // nothing is known of its parameters, so all of them count
        const std::size_t semicolon = intent.media_type.find(';');
        if (semicolon == std::string::npos) return essence;
        return essence + ";" + std::string(trim_blank(std::string_view(intent.media_type).substr(semicolon + 1)));
    }
    if (form == BodyForm::multipart) return essence;
    const std::string charset = ascii_lower(media_parameter(intent.media_type, "charset"));
    const bool expected = charset.empty() || charset == "utf-8" || charset == "utf8" || charset == "us-ascii";
    return expected ? essence : essence + ";charset=" + charset;
}

CanonicalContent canonical_content(const Intent& intent, const IntentRules& rules, IntentLimits limits) {
    if (is_identity_coding(intent.content_coding)) {
        if (intent.body.size() > limits.decoded_body) return {CanonicalBody{BodyForm::raw, intent.body}, {}};
        return {canonical_body(intent.media_type, intent.body, rules), {}};
    }
    const auto content = decode_content(intent.content_coding, intent.body, limits.decoded_body);
    if (content.outcome != DecodeOutcome::decoded) {
        return {CanonicalBody{BodyForm::raw, intent.body}, ascii_lower(trim_blank(intent.content_coding))};
    }
    return {canonical_body(intent.media_type, content.bytes, rules), {}};
}

std::vector<std::pair<std::string, std::string>> select_headers(
    const std::vector<std::pair<std::string, std::string>>& fields, const IntentRules& rules) {
    std::vector<std::pair<std::string, std::string>> selected;
    for (const auto& [name, value] : fields) {
        if (part_of_intent(rules, name)) selected.emplace_back(ascii_lower(name), trim_blank(value));
    }
    return selected;
}

CanonicalBody canonical_body_of(const Intent& intent, const IntentRules& rules, IntentLimits limits) {
    return canonical_content(intent, rules, limits).body;
}

std::string canonical_intent(const Intent& intent, const IntentRules& rules, IntentLimits limits) {
    const CanonicalContent content = canonical_content(intent, rules, limits);
    std::string out;
    out.reserve(content.body.bytes.size() + intent.path.size() + intent.query.size() + 256);
    out.append(intent_form).append("\n");
    append_line(out, "method", intent.method);
    append_line(out, "authority", canonical_authority(intent.scheme_authority));
    append_line(out, "path", canonical_path(intent.path, rules));
    append_line(out, "query", canonical_query(intent.query, rules));
    auto headers = select_headers(intent.headers, rules);
    std::stable_sort(headers.begin(), headers.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [name, value] : headers) {
        out += "header ";
        append_netstring(out, name);
        append_line(out, "", value);
    }
    append_line(out, "media", canonical_media(intent, content.body.form));
    append_line(out, "coding", content.coding);
    append_line(out, to_text(content.body.form), content.body.bytes);
    return out;
}

CanonicalDigest digest_of_canonical(std::string_view canonical_intent_bytes) {
    return CanonicalDigest(sha256(canonical_intent_bytes));
}

CanonicalDigest canonical_digest(const Intent& intent, const IntentRules& rules, IntentLimits limits) {
    return digest_of_canonical(canonical_intent(intent, rules, limits));
}

RawDigest raw_digest(const Intent& intent) { return RawDigest(sha256(intent.body)); }

std::string to_hex(const CanonicalDigest& digest) { return to_hex(digest.value()); }
std::string to_hex(const RawDigest& digest) { return to_hex(digest.value()); }

}  // namespace opid
