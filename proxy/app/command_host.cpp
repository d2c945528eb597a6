#include "app/command_host.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "adapters/settings/load_profiles.hpp"
#include "adapters/store/rocksdb/directory.hpp"
#include "adapters/store/rocksdb/rocks_store.hpp"
#include "adapters/system/durable_file.hpp"
#include "adapters/system/system_timers.hpp"
#include "adapters/tls/trust_files.hpp"
#include "app/application.hpp"
#include "app/data_folder.hpp"
#include "app/run_now.hpp"
#include "app/settings_mapping.hpp"
#include "base/encoding.hpp"

namespace opid {
namespace {

constexpr std::size_t token_random_bytes = 24;
constexpr std::size_t bundle_bytes_max = 16 << 20;

std::string_view trim_line_ends(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    return text;
}

std::vector<CliProblem> told(const std::vector<SettingsProblem>& problems) {
    std::vector<CliProblem> out;
    for (const SettingsProblem& problem : problems) {
        CliProblem made;
        made.file = problem.file;
        made.line = problem.line;
        made.column = problem.column;
        made.path = problem.path;
        made.text = problem.text;
        made.hint = problem.hint;
        made.shown = to_text(problem);
        out.push_back(std::move(made));
    }
    return out;
}

// An address that listens everywhere is reached here.
std::string reachable(const HostPort& at) {
    const bool all = at.host == "0.0.0.0" || at.host == "::";
    return all ? fmt::format("127.0.0.1:{}", at.port) : at.to_string();
}

// A port that the system picked stands in the data folder of the process that got it.
std::string address_of(const HostPort& configured, const std::string& noted_in) {
    if (configured.port != 0) return reachable(configured);
    const Result<std::string> noted = read_small_file(noted_in, 256);
    if (!noted) return {};
    HostPort at = configured;
    const char* end = noted->data() + noted->size();
    const std::size_t colon = noted->rfind(':');
    if (colon == std::string::npos || std::from_chars(noted->data() + colon + 1, end, at.port).ptr != end) return {};
    return reachable(at);
}

// In the place of secrets, whose owner may well be another one than who runs a command.
SettingsSources without_secrets() {
    SettingsSources sources;
    sources.environment = [](const std::string& name) { return std::optional<std::string>("unread " + name); };
    return sources;
}

Result<CliTrust> told(const std::string& folder, const CertificateAuthority& authority) {
    std::error_code error;
    const std::string absolute = std::filesystem::absolute(folder, error).lexically_normal().string();
    if (error) return Error(ErrorKind::unavailable, fmt::format("{}: {}", folder, error.message()));
    const TrustFiles files = trust_files(absolute);
    CliTrust out;
    out.subject = authority.subject();
    out.fingerprint = authority.fingerprint();
    out.not_before = authority.not_before();
    out.not_after = authority.not_after();
    out.folder = absolute;
    out.ca = files.ca;
    out.bundle = files.bundle;
    out.truststore = files.truststore;
    out.truststore_password = truststore_password;
    return out;
}

bool trust_files_are_current(const std::string& folder, const CertificateAuthority& authority) {
    const TrustFiles files = trust_files(folder);
    const Result<std::string> bundle = read_small_file(files.bundle, bundle_bytes_max);
    std::error_code error;
    return bundle && bundle->find(std::string(trim_line_ends(authority.pem()))) != std::string::npos &&
           std::filesystem::exists(files.truststore, error);
}

}  // namespace

int CommandHost::serve(const std::string& config, const std::string& data, bool accept_restore) {
    ServeOptions options;
    options.config = config;
    options.data = data;
    options.accept_restore = accept_restore;
    Application application(std::move(options), hooks_, out_, err_);
    return application.run();
}

CliSettings CommandHost::settings(const std::string& config, const std::string& data) {
    CliSettings out;
    LoadedSettings loaded;
    const auto file = find_settings_file(config);
    if (file) {
        loaded = load_settings(*file, without_secrets());
    } else {
        loaded.settings.emplace();
    }
    out.problems = told(loaded.problems);
    if (!loaded.settings) return out;
    if (!data.empty()) loaded.settings->data = data;
    out.data = loaded.settings->data;
    const ListenSettings& listen = loaded.settings->listen;
    out.admin_address = address_of(listen.admin, out.data + "/admin.address");
    if (out.admin_address.empty()) out.admin_address = listen.admin.to_string();
    out.proxy_address = address_of(listen.proxy, out.data + "/proxy.address");
    for (const auto& [name, at] : listen.providers) {
        if (at.port != 0) out.provider_addresses.emplace_back(name, reachable(at));
    }
    for (const TenantSettings& tenant : loaded.settings->tenants) out.tenants.push_back(tenant.name);
    out.policies = loaded.settings->policies;
    return out;
}

CliPolicies CommandHost::policies(const std::vector<std::string>& paths) {
    CliPolicies out;
    LoadedProfiles loaded = load_profiles(paths);
    out.problems = told(loaded.problems);
    if (!loaded.profiles) return out;
    out.profiles = std::make_shared<const ProfileSet>(std::move(*loaded.profiles));
    out.warnings = policy_warnings(*out.profiles);
    return out;
}

Result<CliStoreReport> CommandHost::verify_store(const std::string& data) {
    const Result<VerifyReport> report = opid::verify_store(data);
    if (!report) return report.error();
    CliStoreReport out;
    out.sound = report->sound();
    out.problems = report->problems;
    out.counts = {{"open_records", report->open_records},
                  {"final_records", report->final_records},
                  {"tombstones", report->tombstones},
                  {"bodies", report->bodies},
                  {"body_bytes", report->body_bytes},
                  {"history_chunks", report->history_chunks},
                  {"steps", report->steps},
                  {"problem_count", report->problem_count}};
    return out;
}

Result<std::string> CommandHost::backup_store(const std::string& data, const std::string& folder) {
    const SystemTimers timers;
    Settings settings;
    settings.data = data;
    if (!database_exists(StorePaths(data))) {
        return Error(ErrorKind::not_found, fmt::format("there is no store in {}: nothing was backed up", data));
    }
    Result<std::unique_ptr<RocksStore>> store = RocksStore::open(rocks_options(settings, "backup", timers));
    if (!store) return store.error();
    const Result<BackupInfo> made = run_now((*store)->backup(folder));
    if (!made) return made.error();
    return fmt::format("backup {} made in {}", made->id, folder);
}

Result<std::string> CommandHost::restore_store(const std::string& folder, const std::string& data, bool force) {
    const Result<BackupInfo> restored = opid::restore_store(folder, data, force);
    if (!restored) return restored.error();
    return fmt::format(
        "backup {} restored into {}. Operations that began after it are not known any more: a retry of one "
        "of them would run again. Start once with `opid serve --accept-restore` to go on.",
        restored->id, data);
}

Result<CliTrust> CommandHost::trust(const std::string& data, bool refresh_bundle) {
    const Status made = make_data_folder(data);
    if (!made) return made.error();
    const std::string folder = authority_folder(data);
    const auto authority = CertificateAuthority::open_or_create(folder, SystemTimers().now());
    if (!authority) return authority.error();
    if (refresh_bundle || !trust_files_are_current(folder, **authority)) {
        const Status written = write_trust_files(folder, **authority);
        if (!written) return written.error();
    }
    return told(folder, **authority);
}

Result<CliTrust> CommandHost::rotate_trust(const std::string& data) {
    const Status made = make_data_folder(data);
    if (!made) return made.error();
    const std::string folder = authority_folder(data);
    const auto authority = CertificateAuthority::rotate(folder, SystemTimers().now());
    if (!authority) return authority.error();
    const Status written = write_trust_files(folder, **authority);
    if (!written) return written.error();
    return told(folder, **authority);
}

Status CommandHost::replace_file(const std::string& path, std::string_view text) {
    return write_durably(path, text, 0600);
}

std::string CommandHost::fresh_token() { return "opid_" + base32hex(entropy_.bytes(token_random_bytes)); }

std::string_view CommandHost::version() const { return opid_version(); }

}  // namespace opid
