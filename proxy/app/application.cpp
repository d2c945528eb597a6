#include "app/application.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdlib>

#include "adapters/settings/load_settings.hpp"
#include "adapters/tls/trust_files.hpp"
#include "app/data_folder.hpp"
#include "app/proxy_samples.hpp"
#include "app/run_now.hpp"
#include "app/settings_mapping.hpp"

namespace opid {
namespace {

constexpr int exit_refused = 1;

std::string endpoint_text(const http::IpAddress& ip, std::uint16_t port) {
    return ip.is_v4() ? fmt::format("{}:{}", ip.to_string(), port) : fmt::format("[{}]:{}", ip.to_string(), port);
}

AuthorityView view_of(const CertificateAuthority& authority) {
    AuthorityView view;
    view.subject = authority.subject();
    view.fingerprint = authority.fingerprint();
    view.pem = authority.pem();
    view.not_before = authority.not_before();
    view.not_after = authority.not_after();
    return view;
}

LoadedSettings settings_for(const std::string& given) {
    const auto file = find_settings_file(given);
    if (file) return load_settings(*file);
    LoadedSettings defaults;
    defaults.settings.emplace();
    return defaults;
}

}  // namespace

struct Application::Control {
    boost::asio::io_context context{1};
    boost::asio::signal_set signals{context, SIGINT, SIGTERM, SIGHUP};
};

std::string_view to_word(Phase phase) {
    constexpr std::array<std::string_view, 7> words{"loading", "opening_store", "recovering", "listening",
                                                    "serving", "draining",      "stopped"};
    return words[static_cast<std::size_t>(phase)];
}

std::string_view opid_version() { return OPID_VERSION; }

Application::Application(ServeOptions options, ApplicationHooks hooks, std::ostream& out, std::ostream& err)
    : options_(std::move(options)),
      hooks_(std::move(hooks)),
      out_(out),
      err_(err) {}

Application::~Application() { close(); }

int Application::run() {
    std::signal(SIGPIPE, SIG_IGN);
    if (!load()) return exit_refused;
    using Part = Status (Application::*)();
    constexpr std::pair<Phase, Part> parts[] = {{Phase::opening_store, &Application::open_store},
                                                {Phase::opening_store, &Application::open_authority},
                                                {Phase::opening_store, &Application::build},
                                                {Phase::recovering, &Application::recover},
                                                {Phase::listening, &Application::listen}};
    for (const auto& [phase, part] : parts) {
        phase_ = phase;
        const Status done = (this->*part)();
        if (!done) {
            err_ << "opid: " << done.error().what() << std::endl;
            close();
            return exit_refused;
        }
    }
    serve();
    close();
    return 0;
}

bool Application::load() {
    LoadedSettings loaded = settings_for(options_.config);
    if (!loaded.settings) {
        err_ << to_text(loaded.problems) << std::endl;
        return false;
    }
    settings_ = std::move(*loaded.settings);
    if (!options_.data.empty()) settings_.data = options_.data;
    log_ = std::make_unique<Log>(log_options(settings_));
    policies_ = std::make_unique<PolicyDesk>(settings_.policies);
    const ReloadReport report = policies_->reload();
    for (const std::string& problem : report.problems) err_ << problem << "\n";
    err_.flush();
    if (!report.changed) return false;
    for (const std::string& warning : policies_->warnings()) {
        log_->write(LogSeverity::warning, "policy_not_carried_out", {{"what", warning}});
    }
    return true;
}

Status Application::open_store() {
    if (settings_.store.engine != StoreEngine::rocksdb) {
        return Error(ErrorKind::invalid, "store.engine: postgres is not available in this build; use rocksdb");
    }
    const Status folder = make_data_folder(settings_.data);
    if (!folder) return folder;
    Result<std::string> name = node_name(settings_.data, settings_.node);
    if (!name) return name.error();
    node_.name = std::move(*name);
    RocksOptions store = rocks_options(settings_, node_.name, timers_);
    store.accept_restore_horizon = options_.accept_restore;
    Result<std::unique_ptr<RocksStore>> opened = RocksStore::open(std::move(store));
    if (!opened) return Error(opened.error().kind(), fmt::format("data: {}", opened.error().what()));
    rocks_ = std::move(*opened);
    const Result<std::uint64_t> epoch = next_epoch(settings_.data, timers_.now());
    if (!epoch) return epoch.error();
    node_.epoch = *epoch;
    return ok();
}

Status Application::build() {
    log_observer_ = std::make_unique<LogObserver>(*log_, timers_);
    observer_ = std::make_unique<FanOut>(std::vector<Observer*>{log_observer_.get(), &metrics_, &events_});
    OperationStore* inner = rocks_.get();
    if (hooks_.wrap_store) {
        wrapped_store_ = hooks_.wrap_store(*inner, timers_);
        inner = wrapped_store_.get();
    }
    store_ = std::make_unique<DeadlineStore>(*inner, timers_, *observer_, settings_.timeouts.store);
    Result<std::unique_ptr<Outbound>> outbound = Outbound::make(outbound_options(settings_));
    if (!outbound) return outbound.error();
    outbound_ = std::move(*outbound);
    upstream_ = std::make_unique<UpstreamClient>(*outbound_, head_limits(settings_));
    Upstream* sender = upstream_.get();
    if (hooks_.wrap_upstream) {
        wrapped_upstream_ = hooks_.wrap_upstream(*upstream_);
        sender = wrapped_upstream_.get();
    }
    EngineParts parts{*store_, *sender, timers_, entropy_, *observer_, engine_limits(settings_), node_};
    engine_ = std::make_unique<WriteCoordinator>(std::move(parts));
    BackgroundTimes times;
    times.sweep = settings_.timeouts.sweep;
    times.records_kept = settings_.retention.records;
    times.tombstones_kept = settings_.retention.tombstones;
    background_ = std::make_unique<Background>(*engine_, *store_, policies_->board(), timers_, *log_, times);
    return ok();
}

Status Application::open_authority() {
    const std::string folder = authority_folder(settings_.data);
    auto opened = CertificateAuthority::open_or_create(folder, timers_.now());
    if (!opened) return opened.error();
    const std::shared_ptr<const CertificateAuthority> authority = std::move(*opened);
    const Status files = write_trust_files(folder, *authority);
    if (!files) log_->write(LogSeverity::warning, "trust_files", {{"problem", files.error().what()}});
    InterceptorOptions options;
    options.certificates_max = settings_.limits.certificates;
    options.now = [this] { return timers_.now(); };
    Result<std::unique_ptr<Interceptor>> interceptor = Interceptor::make(authority, std::move(options));
    if (!interceptor) return interceptor.error();
    interceptor_ = std::move(*interceptor);
    const std::string file = trust_files(folder).ca;
    log_->write(LogSeverity::info, "certificate_authority",
                {{"subject", authority->subject()}, {"sha256", authority->fingerprint()}, {"file", file}});
    return ok();
}

Status Application::recover() {
    const Result<std::size_t> lost = run_now(engine_->recover_owned_by_the_dead(policies_->board()));
    if (!lost) return lost.error();
    const std::string count = std::to_string(*lost);
    const std::string epoch = std::to_string(node_.epoch);
    log_->write(LogSeverity::info, "recovered", {{"owners_lost", count}, {"node", node_.name}, {"epoch", epoch}});
    return ok();
}

Status Application::listen() {
    control_ = std::make_unique<Control>();
    await_signals();
    Result<DataPlaneOptions> options = data_plane_options(settings_);
    if (!options) return options.error();
    GuardedHandler handler = [this](GuardedWrite write, ResponseSink* sink) {
        return engine_->handle(std::move(write), sink);
    };
    if (hooks_.wrap_handler) handler = hooks_.wrap_handler(std::move(handler));
    DataPlaneParts parts{*outbound_, policies_->board(), std::move(handler), *store_,
                         timers_,    entropy_,           *observer_,         interceptor_.get()};
    data_plane_ = std::make_unique<DataPlane>(std::move(*options), std::move(parts));

    Result<Secret> token = admin_token(settings_.data, entropy_);
    if (!token) return token.error();
    AdminParts admin_parts{*store_,
                           *engine_,
                           policies_->board(),
                           timers_,
                           entropy_,
                           events_,
                           *this,
                           admin_identities(settings_, *token),
                           tenant_names(settings_),
                           {}};
    admin_api_ = std::make_unique<AdminApi>(std::move(admin_parts), AdminAddress{});
    admin_server_ = std::make_unique<AdminServer>(admin_server_options(settings_), *admin_api_, events_, timers_);
    const Result<AdminAddress> admin = admin_server_->bind();
    if (!admin) return admin.error();
    const auto admin_ip = http::parse_ip(admin->host);
    if (!admin_ip) return Error(ErrorKind::invalid, "listen.admin: no IP address");
    outbound_->own_endpoints().add(AddressAndPort{*admin_ip, admin->port}, OwnEndpoint::admin);
    const std::string admin_text = endpoint_text(*admin_ip, admin->port);
    const Status noted = note_admin_address(settings_.data, admin_text);
    if (!noted) return noted;
    const Result<BoundAddresses> bound = data_plane_->start();
    if (!bound) {
        const std::string proxy = settings_.listen.proxy.to_string();
        return Error(bound.error().kind(), fmt::format("{} (listen.proxy is {})", bound.error().what(), proxy));
    }
    const Status told = note_proxy_address(settings_.data, endpoint_text(bound->proxy.ip, bound->proxy.port));
    if (!told) return told;
    admin_thread_ = std::thread([this] { admin_server_->run(); });
    background_->start();

    out_ << "listening proxy " << endpoint_text(bound->proxy.ip, bound->proxy.port) << "\n";
    for (const auto& [name, address] : bound->providers) {
        out_ << "listening provider " << name << " " << endpoint_text(address.ip, address.port) << "\n";
    }
    out_ << "listening admin " << admin_text << "\nconsole http://" << admin_text << "/\n";
    return ok();
}

void Application::serve() {
    phase_ = Phase::serving;
    out_ << "ready" << std::endl;
    log_->write(LogSeverity::info, "serving", {{"version", opid_version()}});
    control_->context.run();
}

void Application::await_signals() {
    control_->signals.async_wait([this](const boost::system::error_code& error, int number) {
        if (error) return;
        signalled(number);
        await_signals();
    });
}

void Application::signalled(int number) {
    if (number == SIGHUP) {
        reload_policies("SIGHUP");
        return;
    }
    if (phase_.exchange(Phase::draining) == Phase::draining) {
        log_->write(LogSeverity::warning, "ended_at_once", {{"why", "a second signal"}});
        log_->flush();
        std::_Exit(exit_refused);
    }
    log_->write(LogSeverity::info, "draining", {});
    drain_thread_ = std::thread([this] { drain(); });
}

void Application::stop() {
    if (control_) boost::asio::post(control_->context, [this] { signalled(SIGTERM); });
}

void Application::drain() {
    const bool all_ended = data_plane_->drain(settings_.timeouts.drain);
    log_->write(all_ended ? LogSeverity::info : LogSeverity::warning, "drained",
                {{"all_ended", all_ended ? "true" : "false"}});
    control_->context.stop();
}

// Threads first, then the store, while the contexts that it posts to are still there.
void Application::close() {
    if (drain_thread_.joinable()) drain_thread_.join();
    if (data_plane_) data_plane_->stop();
    if (background_) background_->stop();
    if (admin_server_) admin_server_->stop();
    if (admin_thread_.joinable()) admin_thread_.join();
    rocks_.reset();
    if (phase_.exchange(Phase::stopped) == Phase::draining) log_->write(LogSeverity::info, "stopped", {});
}

Readiness Application::readiness() {
    Readiness readiness;
    const StoreHealth health = store_->health();
    if (phase_ != Phase::serving) {
        readiness.ready = false;
        readiness.reason = std::string(to_word(phase_));
    } else if (!health.writable || health.latched) {
        readiness.ready = false;
        readiness.reason = "store: " + health.reason;
    }
    return readiness;
}

std::string Application::metrics_text() {
    std::vector<MetricSample> samples = data_plane_samples(data_plane_->metrics());
    for (auto more : {guarded_upstream_samples(upstream_->counts()), interception_samples(interceptor_->counts()),
                      store_samples(store_->health())}) {
        samples.insert(samples.end(), more.begin(), more.end());
    }
    samples.push_back(gauge("opid_operations_in_flight", "Operations that are worked on in this process",
                            static_cast<double>(engine_->in_flight())));
    samples.push_back(gauge("opid_profiles", "Provider profiles in force",
                            static_cast<double>(policies_->board().current()->all().size())));
    samples.push_back(gauge("opid_ready", "1 while guarded writes are taken", readiness().ready ? 1 : 0));
    return metrics_.text(samples);
}

ReloadReport Application::reload_policies(std::string actor) {
    const ReloadReport report = policies_->reload();
    for (const std::string& problem : report.problems) {
        log_->write(LogSeverity::error, "policies_invalid", {{"problem", problem}, {"actor", actor}});
    }
    if (!report.changed) return report;
    outbound_->profiles_changed();
    upstream_->profiles_changed();
    const std::string count = std::to_string(report.profiles);
    log_->write(LogSeverity::info, "policies_reloaded", {{"profiles", count}, {"actor", actor}});
    for (const std::string& warning : policies_->warnings()) {
        log_->write(LogSeverity::warning, "policy_not_carried_out", {{"what", warning}});
    }
    return report;
}

AuthorityView Application::authority() { return view_of(*interceptor_->authority()); }

Result<AuthorityView> Application::rotate_authority(std::string actor) {
    const std::string folder = authority_folder(settings_.data);
    auto rotated = CertificateAuthority::rotate(folder, timers_.now());
    if (!rotated) return rotated.error();
    const std::shared_ptr<const CertificateAuthority> made = std::move(*rotated);
    interceptor_->replace_authority(made);
    log_->write(LogSeverity::warning, "certificate_authority_rotated",
                {{"subject", made->subject()}, {"sha256", made->fingerprint()}, {"actor", actor}});
    const Status files = write_trust_files(folder, *made);
    if (!files) return files.error();
    return view_of(*made);
}

Task<Result<SweepResult>> Application::sweep() { return background_->sweep_all(); }

Task<Result<std::string>> Application::backup(std::string folder) {
    Result<BackupInfo> made = co_await rocks_->backup(std::move(folder));
    if (!made) co_return made.error();
    co_return fmt::format("backup {} holds everything up to sequence {}, {} bytes", made->id, made->sequence,
                          made->bytes);
}

}  // namespace opid
