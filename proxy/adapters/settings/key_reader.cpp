#include "adapters/settings/key_reader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "adapters/settings/answer_reader.hpp"
#include "adapters/settings/match_reader.hpp"
#include "base/encoding.hpp"
#include "core/http/fields.hpp"
#include "core/profile/recovery_plan.hpp"

namespace opid {
namespace {

constexpr Millis century{100ll * 366 * 86400000};

constexpr Words<KeyWindow::Bound, 7> bounds{{
    {"exactly", KeyWindow::Bound::exactly},
    {"at_least", KeyWindow::Bound::at_least},
    {"forever", KeyWindow::Bound::forever},
    {"while_object_exists", KeyWindow::Bound::while_object_exists},
    {"while_open", KeyWindow::Bound::while_open},
    {"client_chosen", KeyWindow::Bound::client_chosen},
    {"unpublished", KeyWindow::Bound::unpublished},
}};

// These have a meaning of their own on the wire; a key there would break the request.
bool is_reserved_header(std::string_view name) {
    static constexpr std::array<std::string_view, 16> reserved{"authorization",
                                                               "connection",
                                                               "content-encoding",
                                                               "content-length",
                                                               "content-type",
                                                               "cookie",
                                                               "date",
                                                               "expect",
                                                               "host",
                                                               "keep-alive",
                                                               "proxy-authorization",
                                                               "te",
                                                               "trailer",
                                                               "transfer-encoding",
                                                               "upgrade",
                                                               "via"};
    const std::string lower = ascii_lower(name);
    return lower.substr(0, 10) == "operation-" || std::find(reserved.begin(), reserved.end(), lower) != reserved.end();
}

void read_carrier(const YamlNode& node, const std::string& path, FileReading& reading, KeyRule& key) {
    if (!node.is_scalar()) {
        reading.problem(node, path,
                        fmt::format("expected a carrier such as header:Idempotency-Key, found {}", found_text(node)));
        return;
    }
    for (const std::string_view later : {"mime:", "directive:", "graphql:@"}) {
        if (std::string_view(node.text).substr(0, later.size()) != later) continue;
        reading.problem(node, path,
                        fmt::format("opid can't put a key at {} yet; use carrier: none, so that nothing is "
                                    "sent a second time on the strength of it",
                                    found_text(node)));
        return;
    }
    auto carrier = parse_key_carrier(node.text);
    if (!carrier) {
        reading.problem(node, path, carrier.error().what());
        return;
    }
    if (carrier->kind == KeyCarrier::Kind::header && is_reserved_header(carrier->name)) {
        reading.problem(node, path,
                        fmt::format("the header {} has another meaning and can't carry a key", carrier->name));
        return;
    }
    key.carrier = std::move(*carrier);
}

void read_encoding(const YamlNode& node, const std::string& path, FileReading& reading, KeyRule& key) {
    std::string alphabet = "base32hex";
    std::uint64_t length = 0;
    if (node.is_scalar()) {
        alphabet = node.text;
    } else {
        MapReader map(node, path, reading);
        map.text("alphabet", alphabet);
        if (map.get("length") != nullptr && !map.count("length", length, 1, 255)) return;
        map.finish();
    }
    const auto parsed = parse_key_alphabet(alphabet);
    if (!parsed) {
        reading.problem(node, path, parsed.error().what());
        return;
    }
    const bool uuid = *parsed == KeyAlphabet::uuid4 || *parsed == KeyAlphabet::uuid8;
    if (length == 0 && !uuid) length = 32;
    const auto encoding = KeyEncoding::make(*parsed, length);
    if (encoding) {
        key.encoding = *encoding;
    } else {
        reading.problem(node, path, encoding.error().what());
    }
}

void read_window(const YamlNode& node, const std::string& path, FileReading& reading, KeyWindow& window) {
    if (node.is_scalar()) {
        const auto length = parse_duration(node.text);
        if (node.text == "forever") {
            window = KeyWindow{KeyWindow::Bound::forever, {}, {}};
        } else if (length && length->count() > 0) {
            window = KeyWindow{KeyWindow::Bound::at_least, *length, default_margin(*length)};
        } else {
            reading.problem(
                node, path,
                fmt::format("expected a duration, forever, or {{for, bound, margin}}; found {}", found_text(node)));
        }
        return;
    }
    MapReader map(node, path, reading);
    map.word("bound", window.bound, bounds);
    const bool timed = map.duration("for", window.length, Millis{1000}, century);
    if (timed && window.unlimited()) map.problem("for", "this bound has no duration: the key does not lapse by time");
    if (timed || map.get("margin") == nullptr) window.margin = default_margin(window.length);
    map.duration("margin", window.margin, Millis{0}, century);
    if (!window.unlimited() && window.margin >= window.length) {
        map.problem("margin", "is as long as the window, so the key would never be used again");
    }
    map.finish();
}

IdentitySource read_source(const YamlNode& at, const std::string& text, const std::string& path, FileReading& reading) {
    IdentitySource source;
    const std::string_view view = text;
    if (view.substr(0, 5) == "body:") {
        source.kind = IdentitySource::Kind::body;
        source.name = view.substr(5);
        if (check_pointer(at, source.name, path, reading) && source.name.empty()) {
            reading.problem(at, path, "body: needs a pointer to a member, for example body:/id");
        }
    } else if (view.substr(0, 6) == "query:") {
        source.kind = IdentitySource::Kind::query;
        source.name = view.substr(6);
        if (source.name.empty()) reading.problem(at, path, "query: needs a name, for example query:request_id");
    } else {
        source.name = view.substr(0, 7) == "header:" ? view.substr(7) : view;
        if (!http::is_token(source.name)) {
            reading.problem(at, path,
                            fmt::format("expected a header name, body:/pointer or query:name, found '{}'", text));
        }
    }
    return source;
}

void read_patterns(MapReader& map, std::string_view key, std::vector<JsonPattern>& out) {
    const YamlNode* node = map.get(key);
    if (node == nullptr) return;
    for (const std::string& text : texts_of(*node, map.path_of(key), map.reading(), "a list of JSON pointers")) {
        auto pattern = JsonPattern::parse(text);
        if (pattern && pattern->size() > 0) {
            out.push_back(std::move(*pattern));
        } else {
            map.problem(key, fmt::format("expected a JSON pointer such as /items/*/id, found '{}'", text));
        }
    }
}

bool is_currency(std::string_view text) {
    return text.size() == 3 && std::all_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

void read_money(MapReader& map, std::vector<MoneyRule>& out) {
    const YamlNode* node = map.get("money");
    if (node == nullptr) return;
    const auto items = items_of(*node, map.path_of("money"), map.reading(), "a list of {at, currency}");
    for (std::size_t i = 0; i < items.size(); ++i) {
        MapReader item(*items[i], item_path(map.path_of("money"), i), map.reading());
        std::string at;
        std::string currency;
        MoneyRule rule;
        if (item.require("at") != nullptr && item.text("at", at)) {
            auto pattern = JsonPattern::parse(at);
            if (pattern) rule.at = std::move(*pattern);
            if (!pattern || at.empty()) item.problem("at", fmt::format("expected a JSON pointer, found '{}'", at));
        }
        if (item.require("currency") != nullptr && item.text("currency", currency)) {
            auto pattern = JsonPattern::parse(currency);
            if (is_currency(currency)) {
                rule.currency_code = currency;
            } else if (pattern) {
                rule.currency = std::move(*pattern);
            } else {
                item.problem("currency",
                             fmt::format("expected a JSON pointer or a code such as USD, found '{}'", currency));
            }
        }
        item.finish();
        out.push_back(std::move(rule));
    }
}

}  // namespace

KeyRule default_key_rule() {
    KeyRule key;
    key.stores = *StatusSet::parse({"2xx"});
    return key;
}

void read_key_rule(const YamlNode& node, const std::string& path, FileReading& reading, KeyRule& key) {
    if (node.is_scalar()) {
        read_carrier(node, path, reading, key);
        return;
    }
    MapReader map(node, path, reading);
    if (const YamlNode* at = map.get("carrier")) read_carrier(*at, map.path_of("carrier"), reading, key);
    if (const YamlNode* at = map.get("encoding")) read_encoding(*at, map.path_of("encoding"), reading, key);
    map.flag("quoted", key.quoted);
    static constexpr Words<KeySource, 2> sources{{{"derived", KeySource::derived}, {"caller", KeySource::caller}}};
    map.word("source", key.source, sources);
    std::uint64_t length = 0;
    if (map.count("min_length", length, 1, 255)) key.min_length = static_cast<std::uint32_t>(length);
    if (map.count("max_length", length, 1, 255)) key.max_length = static_cast<std::uint32_t>(length);
    if (const YamlNode* at = map.get("window")) read_window(*at, map.path_of("window"), reading, key.window);
    if (const YamlNode* at = map.get("stores")) key.stores = read_statuses(*at, map.path_of("stores"), reading);
    if (const YamlNode* at = map.get("proof")) {
        MapReader proof(*at, map.path_of("proof"), reading);
        key.proof = read_answer(proof);
        proof.finish();
        if (key.proof->header.empty() && key.proof->body.empty()) {
            map.problem("proof", "needs a header or a body condition: a status alone proves nothing");
        }
    }
    map.finish();
}

void check_key_rule(const KeyRule& key, const YamlNode& at, const std::string& path, FileReading& reading) {
    if (!key.present()) return;
    const std::size_t length = key.encoding.length();
    if (length > key.max_length || length < key.min_length) {
        reading.problem(at, path,
                        fmt::format("derived keys have {} characters, but the provider takes {} to {}: set encoding",
                                    length, key.min_length, key.max_length));
    }
    if (key.quoted && key.carrier.kind != KeyCarrier::Kind::header) {
        reading.problem(at, path, "quoted: is for keys in a header");
    }
}

IdentityRule default_identity_rule() {
    IdentityRule identity;
    identity.from = {{IdentitySource::Kind::header, "Operation-Id"}, {IdentitySource::Kind::header, "Idempotency-Key"}};
    return identity;
}

void read_identity(const YamlNode& node, const std::string& path, FileReading& reading, IdentityRule& identity) {
    MapReader map(node, path, reading);
    if (const YamlNode* at = map.get("from")) {
        identity.from.clear();
        for (const std::string& text :
             texts_of(*at, map.path_of("from"), reading, "a list of header names, body:/pointer or query:name")) {
            identity.from.push_back(read_source(*at, text, map.path_of("from"), reading));
        }
        if (identity.from.empty()) map.problem("from", "names no place for an operation ID");
    }
    static constexpr Words<MissingIdentity, 3> words{
        {{"reject", MissingIdentity::reject}, {"pass", MissingIdentity::pass}, {"observe", MissingIdentity::observe}}};
    map.word("missing", identity.missing, words);
    map.finish();
}

void read_intent(const YamlNode& node, const std::string& path, FileReading& reading, IntentRules& intent) {
    MapReader map(node, path, reading);
    read_patterns(map, "ignore", intent.ignore);
    read_patterns(map, "set", intent.set);
    read_money(map, intent.money);
    read_patterns(map, "email", intent.email);
    read_patterns(map, "timestamp", intent.timestamp);
    read_patterns(map, "trim", intent.trim);
    read_patterns(map, "casefold", intent.casefold);
    if (const YamlNode* at = map.get("headers")) {
        for (std::string& name : texts_of(*at, map.path_of("headers"), reading, "a list of header names")) {
            if (!http::is_token(name)) {
                map.problem("headers", fmt::format("'{}' is no header name", name));
            } else if (never_in_intent(name)) {
                map.problem("headers",
                            fmt::format("{} is never part of an intent: it differs between honest retries", name));
            } else {
                intent.headers.push_back(std::move(name));
            }
        }
    }
    if (const YamlNode* at = map.get("ignore_query")) {
        for (std::string& name : texts_of(*at, map.path_of("ignore_query"), reading, "a list of query names")) {
            intent.ignore_query.push_back(std::move(name));
        }
    }
    static constexpr Words<BodyForm, 6> forms{{{"raw", BodyForm::raw},
                                               {"json", BodyForm::json},
                                               {"form", BodyForm::form},
                                               {"multipart", BodyForm::multipart},
                                               {"graphql", BodyForm::graphql},
                                               {"jsonrpc", BodyForm::jsonrpc}}};
    BodyForm form = BodyForm::raw;
    if (map.word("form", form, forms)) intent.body_form = form;
    map.finish();
}

}  // namespace opid
