#include "app/command_host.hpp"

#include <fmt/format.h>

#include "adapters/settings/load_profiles.hpp"
#include "adapters/store/rocksdb/rocks_store.hpp"
#include "adapters/system/system_timers.hpp"
#include "app/application.hpp"
#include "app/durable_file.hpp"
#include "app/run_now.hpp"
#include "app/settings_mapping.hpp"
#include "base/encoding.hpp"

namespace opid {
namespace {

constexpr std::size_t token_random_bytes = 24;

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

// A port that the system picked stands in the data folder of the process that got it.
std::string admin_address_of(const Settings& settings) {
    const HostPort& admin = settings.listen.admin;
    if (admin.port == 0) {
        const Result<std::string> noted = read_small_file(settings.data + "/admin.address", 256);
        if (noted) return *noted;
    }
    const bool all = admin.host == "0.0.0.0" || admin.host == "::";
    return all ? fmt::format("127.0.0.1:{}", admin.port) : admin.to_string();
}

}  // namespace

int CommandHost::serve(const std::string& config, const std::string& data) {
    ServeOptions options;
    options.config = config;
    options.data = data;
    Application application(std::move(options), hooks_, out_, err_);
    return application.run();
}

CliSettings CommandHost::settings(const std::string& config, const std::string& data) {
    CliSettings out;
    LoadedSettings loaded;
    const auto file = find_settings_file(config);
    if (file) {
        loaded = load_settings(*file);
    } else {
        loaded.settings.emplace();
    }
    out.problems = told(loaded.problems);
    if (!loaded.settings) return out;
    if (!data.empty()) loaded.settings->data = data;
    out.data = loaded.settings->data;
    out.admin_address = admin_address_of(*loaded.settings);
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
        "of them would run again.",
        restored->id, data);
}

std::string CommandHost::fresh_token() { return "opid_" + base32hex(entropy_.bytes(token_random_bytes)); }

std::string_view CommandHost::version() const { return opid_version(); }

}  // namespace opid
