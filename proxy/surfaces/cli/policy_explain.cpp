// What opid would do with a request, without sending it.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <variant>

#include "base/encoding.hpp"
#include "core/http/authority.hpp"
#include "core/identity/intent.hpp"
#include "core/identity/json_reader.hpp"
#include "core/identity/operation_id.hpp"
#include "engine/binding.hpp"
#include "engine/outbound.hpp"
#include "surfaces/cli/cli_output.hpp"
#include "surfaces/cli/policy_commands.hpp"

namespace opid {
namespace {

namespace json = boost::json;

struct Url {
    std::string scheme;
    std::string authority;
    std::string path;
    std::string query;  // with "?"
    std::string host;
    std::uint16_t port = 0;
};

std::optional<Url> url_from(const std::string& text) {
    Url url;
    const auto colon = text.find("://");
    if (colon == std::string::npos) return std::nullopt;
    url.scheme = ascii_lower(std::string_view(text).substr(0, colon));
    if (url.scheme != "https" && url.scheme != "http") return std::nullopt;
    const auto start = colon + 3;
    const auto slash = text.find_first_of("/?", start);
    url.authority = text.substr(start, slash == std::string::npos ? slash : slash - start);
    const auto authority = http::parse_authority(url.authority, url.scheme == "https" ? 443 : 80);
    if (!authority) return std::nullopt;
    url.host = authority->host;
    url.port = authority->port;
    std::string target = slash == std::string::npos ? "/" : text.substr(slash, text.find('#', slash) - slash);
    if (target.front() == '?') target = "/" + target;
    const auto question = target.find('?');
    url.path = target.substr(0, question);
    if (question != std::string::npos) url.query = target.substr(question);
    return url;
}

http::OwnedFields fields_from(const std::vector<std::string>& lines) {
    http::OwnedFields fields;
    for (const std::string& line : lines) {
        const auto colon = line.find(':');
        if (colon == std::string::npos) continue;
        fields.add(trim_blank(std::string_view(line).substr(0, colon)),
                   trim_blank(std::string_view(line).substr(colon + 1)));
    }
    return fields;
}

std::string step_text(const LadderStep& step) {
    if (const auto* retry = std::get_if<KeyedRetryStep>(&step)) {
        return fmt::format("keyed_retry: {} sends in all, {} ms to {} ms apart", retry->attempts,
                           retry->backoff.first.count(), retry->backoff.most.count());
    }
    if (const auto* look_up = std::get_if<LookUpStep>(&step)) {
        return fmt::format("look_up: {} times, settles in {} ms, {}", look_up->attempts, look_up->settle.count(),
                           look_up->consistent ? "absence counts as proof" : "absence proves nothing");
    }
    return "review";
}

Intent intent_of(const Url& url, const ExplainOptions& options, const http::OwnedFields& fields, const Rule& rule) {
    Intent intent;
    intent.method = options.method;
    intent.scheme_authority = url.scheme + "://" + url.authority;
    intent.path = url.path;
    intent.query = url.query;
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& field : fields) all.emplace_back(field.name, field.value);
    intent.headers = select_headers(all, rule.intent);
    intent.media_type = std::string(fields.get("Content-Type").value_or(""));
    intent.content_coding = fields.joined("Content-Encoding");
    intent.body = options.body;
    return intent;
}

// The request as it would leave, where the operation ID is known.
void explain_key(json::object& out, const ProfilePtr& profile, const MatchedRule& matched, const Intent& intent,
                 const http::OwnedFields& fields, const std::string& tenant) {
    const KeyRule& key = matched.rule->key;
    out["carrier"] = to_text(key.carrier);
    if (!key.present()) return;
    out["source"] = std::string(to_word(key.source));
    out["alphabet"] = std::string(to_text(key.encoding.alphabet()));
    out["length"] = key.encoding.length();
    const auto id = operation_id_from_text(fields.get("Operation-Id").value_or(""));
    if (!id) return;
    GuardedWrite write;
    write.tenant = tenant;
    write.profile = profile;
    write.rule = matched.rule;
    write.captures = matched.captures;
    write.id = *id;
    write.intent = intent;
    const Operation draft = draft_operation(write, IntentLimits{});
    const std::string value = provider_key_for(write, draft);
    out["value"] = value;
    std::string storage;
    const Result<OutboundRequest> outbound = outbound_request(write, value, storage);
    if (outbound) {
        out["target"] = outbound->target;
        out["fields"] = outbound->fields;
    } else {
        out["problem"] = outbound.error().what();
    }
}

void print_text(std::ostream& out, const json::object& result) {
    for (const auto& member : result) {
        const json::value& value = member.value();
        out << std::string(member.key()) << ": ";
        if (value.is_array()) {
            out << "\n";
            for (const json::value& item : value.as_array()) {
                out << "  - " << printable(item.is_string() ? std::string(item.as_string()) : json::serialize(item))
                    << "\n";
            }
        } else if (value.is_string() && value.as_string().find('\n') != json::string::npos) {
            out << "\n";
            std::string text(value.as_string());
            for (std::size_t at = 0; at < text.size();) {
                const auto end = std::min(text.find('\n', at), text.size());
                out << "  | " << printable(text.substr(at, end - at)) << "\n";
                at = end + 1;
            }
        } else {
            out << printable(value.is_string() ? std::string(value.as_string()) : json::serialize(value)) << "\n";
        }
    }
}

}  // namespace

int policy_explain(const ProfileSet& profiles, const ExplainOptions& options, std::ostream& out, std::ostream& err) {
    const auto url = url_from(options.url);
    if (!url) {
        err << "opid: URL has to be http://HOST/PATH or https://HOST/PATH\n";
        return exit_usage;
    }
    const http::OwnedFields fields = fields_from(options.headers);
    json::object result;
    const ProfilePtr profile = profiles.by_host(url->host, url->port);
    result["provider"] = nullptr;
    result["class"] = "pass-through";
    if (profile) {
        const http::FieldList view = http::view(fields);
        const std::string target = url->path + url->query;
        RequestView request;
        request.method = options.method;
        request.target = target;
        request.fields = &view;
        request.body = options.body;
        const MatchedRule matched = match_rule(*profile, request);
        const Rule& rule = *matched.rule;
        result["provider"] = profile->provider;
        result["file"] = profile->file;
        result["rule"] = rule.name;
        result["class"] = std::string(to_word(matched.request_class));
        result["allowed"] = matched.allowed;
        if (matched.request_class == RequestClass::write) {
            const Intent intent = intent_of(*url, options, fields, rule);
            const std::string canonical = canonical_intent(intent, rule.intent);
            result["approval_required"] = rule.approval_required;
            result["canonical_form"] = is_utf8(canonical) ? canonical : "hex " + hex(canonical);
            result["digest"] = to_hex(digest_of_canonical(canonical));
            result["raw_digest"] = to_hex(raw_digest(intent));
            json::object key;
            explain_key(key, profile, matched, intent, fields, options.tenant);
            result["key"] = std::move(key);
            json::array ladder;
            for (const LadderStep& step : rule.recovery.steps) ladder.push_back(json::string(step_text(step)));
            if (ladder.empty()) ladder.push_back("review");
            result["ladder"] = std::move(ladder);
            if (rule.recovery.cautious) result["cautious"] = "no keyed retry until the profile's facts are verified";
        }
    }
    if (options.json) {
        out << json::serialize(result) << "\n";
    } else {
        print_text(out, result);
    }
    return exit_ok;
}

}  // namespace opid
