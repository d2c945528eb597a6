#include "adapters/settings/settings_reader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "adapters/settings/files.hpp"
#include "adapters/settings/listen_reader.hpp"
#include "adapters/settings/nearest_word.hpp"
#include "core/http/address_class.hpp"
#include "core/http/authority.hpp"
#include "core/http/fields.hpp"

namespace opid {
namespace {

constexpr Millis second{1000};
constexpr Millis hour{3600000};
constexpr Millis day{86400000};
constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t gib = 1024 * mib;

class SettingsReader {
public:
    SettingsReader(MapReader& root, Settings& out) : root_(root), reading_(root.reading()), out_(out) {}

    void read() {
        read_listen(root_, out_.listen);
        root_.text("data", out_.data);
        store();
        policies();
        tenants();
        limits();
        timeouts();
        retention();
        egress();
        interception();
        admin();
        approvals();
        via();
        log();
        std::uint64_t threads = 0;
        if (root_.count("threads", threads, 0, 256)) out_.threads = static_cast<std::uint32_t>(threads);
        node();
        root_.finish();
        check_open_bind(root_, out_);
    }

private:
    // Runs `body` over the map at `key`, if it is there.
    template <class Body>
    void section(std::string_view key, Body body) {
        const YamlNode* node = root_.get(key);
        if (node == nullptr) return;
        MapReader map(*node, root_.path_of(key), reading_);
        body(map);
        map.finish();
    }

    void store() {
        section("store", [this](MapReader& map) {
            static constexpr Words<StoreEngine, 2> engines{
                {{"rocksdb", StoreEngine::rocksdb}, {"postgres", StoreEngine::postgres}}};
            map.word("engine", out_.store.engine, engines);
            const YamlNode* dsn = map.get("dsn");
            const bool postgres = out_.store.engine == StoreEngine::postgres;
            if (postgres && dsn == nullptr) map.problem("engine", "postgres needs store.dsn, for example env:OPID_DSN");
            if (!postgres && dsn != nullptr) map.problem("dsn", "only engine: postgres takes a dsn");
            if (!postgres || dsn == nullptr) return;
            if (auto secret = read_secret(*dsn, "store.dsn", reading_)) out_.store.dsn = std::move(*secret);
        });
    }

    void policies() {
        const YamlNode* node = root_.get("policies");
        std::vector<std::string> wanted{"policies"};
        if (node != nullptr) wanted = texts_of(*node, "policies", reading_, "a list of folders and files");
        out_.policies.clear();
        for (const std::string& path : wanted) {
            const auto found = locate(path, reading_.folder);
            if (found) {
                out_.policies.push_back(*found);
            } else if (node != nullptr) {
                reading_.problem(*node, "policies",
                                 fmt::format("there is no file or folder {} in {} or the working directory", path,
                                             reading_.folder.empty() ? "." : reading_.folder));
            }
        }
    }

    // The items of a list of maps.
    template <class Body>
    void each(const YamlNode& list, const std::string& path, Body body) {
        if (list.is_scalar() || list.is_map()) {
            reading_.problem(list, path, fmt::format("expected a list, found {}", found_text(list)));
        }
        for (std::size_t i = 0; i < list.items.size(); ++i) {
            MapReader item(list.items[i], item_path(path, i), reading_);
            body(item);
            item.finish();
        }
    }

    bool read_name(MapReader& item, std::string_view key, std::string& out) {
        if (item.require(key) == nullptr || !item.text(key, out)) return false;
        const bool plain = out.size() <= 64 && std::all_of(out.begin(), out.end(), [](char c) {
                               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                                      c == '-' || c == '_' || c == '.';
                           });
        if (!plain) item.problem(key, "a name has up to 64 letters, digits, '.', '-' and '_'");
        return plain;
    }

    template <class List>
    void add_unique(MapReader& item, std::string_view key, List& list, typename List::value_type value,
                    std::string List::value_type::*name) {
        const bool taken = std::any_of(list.begin(), list.end(),
                                       [&](const auto& other) { return other.*name == value.*name; });
        if (taken) item.problem(key, fmt::format("'{}' is there already", value.*name));
        if (!taken) list.push_back(std::move(value));
    }

    void tenants() {
        const YamlNode* node = root_.get("tenants");
        if (node == nullptr) return;
        std::vector<std::string> seen;
        each(*node, "tenants", [&](MapReader& item) {
            TenantSettings tenant;
            const bool named = read_name(item, "name", tenant.name);
            const YamlNode* tokens = item.require("tokens");
            if (tokens != nullptr) {
                const std::string path = item.path_of("tokens");
                const auto items = items_of(*tokens, path, reading_, "a list of env:NAME or file:PATH");
                for (std::size_t i = 0; i < items.size(); ++i) {
                    auto token = read_secret(*items[i], item_path(path, i), reading_);
                    if (!token) continue;
                    if (std::find(seen.begin(), seen.end(), token->reveal()) != seen.end()) {
                        reading_.problem(*items[i], item_path(path, i),
                                         "this token is in use already; each is for one tenant");
                    }
                    seen.push_back(token->reveal());
                    tenant.tokens.push_back(std::move(*token));
                }
                if (tokens->is_list() && items.empty()) item.problem("tokens", "a tenant needs at least one token");
            }
            if (named) add_unique(item, "name", out_.tenants, std::move(tenant), &TenantSettings::name);
        });
    }

    void limits() {
        section("limits", [this](MapReader& map) {
            LimitSettings& l = out_.limits;
            map.size("request_body", l.request_body, kib, 4 * gib);
            map.size("memory_body", l.memory_body, 0, gib);
            map.size("decoded_body", l.decoded_body, kib, 4 * gib);
            map.size("stored_response", l.stored_response, 0, gib);
            map.size("kept_response", l.kept_response, 0, gib);
            map.size("body_memory", l.body_memory, mib, 1024 * gib);
            map.size("spool", l.spool, 0, 1024 * 1024 * gib);
            map.size("head", l.head, kib, 16 * mib);
            map.count("fields", l.fields, 8, 65536);
            map.size("target", l.target, 256, mib);
            map.size("chunk_extensions", l.chunk_extensions, 0, mib);
            if (!map.size("trailers", l.trailers, 0, 16 * mib)) l.trailers = l.head;
            map.count("interim", l.interim, 0, 10000);
            map.count("connections", l.connections, 1, 1000000);
            map.count("guarded", l.guarded, 1, 1000000);
            map.count("waiters", l.waiters, 0, 1000000);
            map.count("upstream_idle", l.upstream_idle, 0, 10000);
            map.count("certificates", l.certificates, 1, 1000000);
            map.count("store_queue", l.store_queue, 1, 1000000);
            map.size("disk_reserve", l.disk_reserve, 0, 1024 * gib);
            map.size("admin_body", l.admin_body, kib, gib);
            map.count("events", l.events, 0, 10000);
            if (l.body_memory < l.memory_body)
                map.problem("body_memory", "is smaller than memory_body, so no such body would fit");
            if (l.target > l.head) map.problem("target", "is larger than head, which holds it");
        });
    }

    void timeouts() {
        section("timeouts", [this](MapReader& map) {
            TimeoutSettings& t = out_.timeouts;
            const Millis least{10};
            map.duration("connect", t.connect, least, hour);
            map.duration("tls", t.tls, least, hour);
            map.duration("upstream_response", t.upstream_response, least, day);
            map.duration("recovery", t.recovery, Millis{0}, day);
            map.duration("wait", t.wait, Millis{0}, day);
            map.duration("wait_max", t.wait_max, Millis{0}, day);
            map.duration("lease", t.lease, Millis{100}, day);
            map.duration("store", t.store, least, hour);
            map.duration("drain", t.drain, Millis{0}, day);
            map.duration("head", t.head, least, hour);
            map.duration("idle", t.idle, least, day);
            map.duration("body_stall", t.body_stall, least, hour);
            map.duration("sniff", t.sniff, least, hour);
            map.duration("sweep", t.sweep, Millis{50}, day);
            t.wait_max = std::max(t.wait_max, t.wait);
        });
    }

    void retention() {
        section("retention", [this](MapReader& map) {
            RetentionSettings& r = out_.retention;
            map.duration("records", r.records, second, 36500 * day);
            map.duration("tombstones", r.tombstones, second, 36500 * day);
            if (r.tombstones < r.records) {
                map.problem(
                    "tombstones",
                    "is shorter than records: an ID would be forgotten while its record may still be asked for");
            }
        });
    }

    static bool is_egress_place(const std::string& text) {
        if (text == "private" || text == "metadata" || http::Cidr::parse(text)) return true;
        const std::string_view host = text;
        return http::parse_authority(host.substr(0, 2) == "*." ? host.substr(2) : host).has_value();
    }

    void places(MapReader& map, std::string_view key, std::vector<std::string>& out) {
        const YamlNode* node = map.get(key);
        if (node == nullptr) return;
        out = texts_of(*node, map.path_of(key), reading_, "a list of CIDRs, hosts, private or metadata");
        for (const std::string& text : out) {
            const bool one_word = text.find_first_of(".:/") == std::string::npos;
            const std::string meant = one_word ? nearest_word(text, {"private", "metadata"}) : std::string();
            if (!meant.empty() && text != meant) {
                map.problem(
                    key, fmt::format("'{}' is no class; did you mean '{}'? A host of that name is written '{}.'", text,
                                     meant, text));
            } else if (!is_egress_place(text)) {
                map.problem(key, fmt::format("'{}' is no CIDR, host pattern, private or metadata", text));
            }
        }
    }

    void egress() {
        section("egress", [this](MapReader& map) {
            places(map, "deny", out_.egress.deny);
            places(map, "allow", out_.egress.allow);
            const YamlNode* resolve = map.get("resolve");
            if (resolve == nullptr) return;
            MapReader entries(*resolve, "egress.resolve", reading_);
            for (const auto& member : resolve->members) {
                const std::string& name = member.first.text;
                const YamlNode& target = *entries.get(name);
                const auto from = http::parse_authority(name);
                const auto to = target.is_scalar() ? http::parse_authority(target.text) : std::nullopt;
                if (!from || !from->port_given) {
                    reading_.problem(member.first, "egress.resolve",
                                     fmt::format("expected \"name:port\", found '{}'", name));
                } else if (!to || !to->port_given || !to->ip) {
                    reading_.problem(target, entries.path_of(name),
                                     fmt::format("expected \"ip:port\", found {}", found_text(target)));
                } else {
                    out_.egress.resolve.emplace_back(from->to_string(), to->to_string());
                }
            }
        });
    }

    void interception() {
        section("interception", [this](MapReader& map) {
            static constexpr Words<H2OnlyClients, 2> words{
                {{"blind", H2OnlyClients::blind}, {"refuse", H2OnlyClients::refuse}}};
            map.word("h2_only", out_.interception.h2_only, words);
        });
    }

    void admin() {
        section("admin", [this](MapReader& map) {
            const YamlNode* tokens = map.get("tokens");
            if (tokens == nullptr) return;
            each(*tokens, "admin.tokens", [this](MapReader& item) {
                static constexpr Words<AdminRole, 3> roles{{{"viewer", AdminRole::viewer},
                                                            {"approver", AdminRole::approver},
                                                            {"operator", AdminRole::operator_}}};
                AdminToken token;
                const bool named = read_name(item, "name", token.name);
                if (item.require("role") != nullptr) item.word("role", token.role, roles);
                if (const YamlNode* at = item.require("token")) {
                    if (auto secret = read_secret(*at, item.path_of("token"), reading_))
                        token.token = std::move(*secret);
                }
                if (named) add_unique(item, "name", out_.admin_tokens, std::move(token), &AdminToken::name);
            });
        });
    }

    void approvals() {
        section("approvals", [this](MapReader& map) {
            const YamlNode* keys = map.get("keys");
            if (keys == nullptr) return;
            each(*keys, "approvals.keys", [this](MapReader& item) {
                static constexpr Words<ApprovalAlgorithm, 2> algorithms{
                    {{"EdDSA", ApprovalAlgorithm::eddsa}, {"HS256", ApprovalAlgorithm::hs256}}};
                ApprovalKey key;
                const bool named = read_name(item, "id", key.id);
                if (item.require("algorithm") != nullptr) item.word("algorithm", key.algorithm, algorithms);
                if (const YamlNode* at = item.require("key")) {
                    if (auto secret = read_secret(*at, item.path_of("key"), reading_)) key.key = std::move(*secret);
                }
                key.approver = key.id;
                item.text("approver", key.approver);
                if (named) add_unique(item, "id", out_.approval_keys, std::move(key), &ApprovalKey::id);
            });
        });
    }

    void via() {
        if (!root_.text("via", out_.via)) return;
        if (out_.via == "off" || out_.via == "false") {
            out_.via.clear();
        } else if (!http::is_token(out_.via)) {
            root_.problem("via", fmt::format("expected off or a pseudonym without blanks, found '{}'", out_.via));
        }
    }

    void log() {
        section("log", [this](MapReader& map) {
            static constexpr Words<LogLevel, 4> levels{{{"debug", LogLevel::debug},
                                                        {"info", LogLevel::info},
                                                        {"warning", LogLevel::warning},
                                                        {"error", LogLevel::error}}};
            static constexpr Words<LogFormat, 2> formats{{{"json", LogFormat::json}, {"text", LogFormat::text}}};
            map.word("level", out_.log_level, levels);
            map.word("format", out_.log_format, formats);
        });
    }

    void node() {
        if (root_.get("node") != nullptr) read_name(root_, "node", out_.node);
    }

    MapReader& root_;
    FileReading& reading_;
    Settings& out_;
};

}  // namespace

void read_settings(MapReader& root, Settings& out) { SettingsReader(root, out).read(); }

}  // namespace opid
