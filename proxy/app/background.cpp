#include "app/background.hpp"

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <string>

namespace opid {
namespace {

constexpr std::size_t sweep_batch = 512;

}  // namespace

Background::Background(WriteCoordinator& engine, OperationStore& store, const ProfileBoard& profiles, Timers& timers,
                       Log& log, BackgroundTimes times)
    : engine_(engine),
      store_(store),
      profiles_(profiles),
      timers_(timers),
      log_(log),
      times_(times) {}

Background::~Background() { stop(); }

void Background::start() {
    const auto end = [](std::exception_ptr error) {
        if (error) std::rethrow_exception(error);
    };
    boost::asio::co_spawn(context_.get_executor(), sweep_loop(), end);
    boost::asio::co_spawn(context_.get_executor(), retention_loop(), end);
    boost::asio::co_spawn(context_.get_executor(), store_loop(), end);
    thread_ = std::thread([this] { context_.run(); });
}

void Background::stop() {
    context_.stop();
    if (thread_.joinable()) thread_.join();
}

Task<Status> Background::sweep_open(DuePlace& place) {
    Result<std::size_t> lost = co_await engine_.recover_owned_by_the_dead(profiles_);
    if (!lost) co_return lost.error();
    Result<std::size_t> moved = co_await engine_.sweep_open(profiles_, sweep_batch, place);
    if (!moved) co_return moved.error();
    if (*lost + *moved > 0) {
        const std::string lost_text = std::to_string(*lost);
        const std::string moved_text = std::to_string(*moved);
        log_.write(LogSeverity::info, "swept", {{"owners_lost", lost_text}, {"to_review", moved_text}});
    }
    co_return ok();
}

Task<Result<SweepResult>> Background::sweep_final() {
    const Instant now = timers_.now();
    auto sweeping = store_.sweep(now - times_.records_kept, now - times_.tombstones_kept, now);
    Result<SweepResult> swept = co_await std::move(sweeping);
    co_return swept;
}

Task<Result<SweepResult>> Background::sweep_all() {
    DuePlace place;
    do {
        const Status open = co_await sweep_open(place);
        if (!open) co_return open.error();
    } while (place != DuePlace{});
    Result<SweepResult> swept = co_await sweep_final();
    co_return swept;
}

Task<> Background::sweep_loop() {
    DuePlace place;  // each round goes on where the last one ended: what has to wait holds up nothing behind it
    for (;;) {
        co_await timers_.sleep_for(times_.sweep);
        const Status swept = co_await sweep_open(place);
        if (!swept) log_.write(LogSeverity::warning, "sweep_failed", {{"what", swept.error().what()}});
    }
}

Task<> Background::retention_loop() {
    for (;;) {
        const Result<SweepResult> swept = co_await sweep_final();
        if (!swept) {
            log_.write(LogSeverity::warning, "retention_failed", {{"what", swept.error().what()}});
        } else if (swept->retired + swept->forgotten > 0) {
            const std::string retired = std::to_string(swept->retired);
            const std::string forgotten = std::to_string(swept->forgotten);
            log_.write(LogSeverity::info, "retention", {{"retired", retired}, {"forgotten", forgotten}});
        }
        co_await timers_.sleep_for(times_.retention);
    }
}

Task<> Background::store_loop() {
    for (;;) {
        note_health();
        co_await timers_.sleep_for(times_.store_check);
    }
}

void Background::note_health() {
    const StoreHealth health = store_.health();
    if (health.latched && !last_.latched) {
        log_.write(LogSeverity::error, "store_latched",
                   {{"reason", health.reason},
                    {"advice", "restart opid: replays and reads go on, guarded writes are refused until then"}});
    } else if (!health.writable && last_.writable) {
        log_.write(LogSeverity::error, "store_not_writable", {{"reason", health.reason}});
    } else if (health.writable && !last_.writable) {
        log_.write(LogSeverity::info, "store_writable_again", {});
    } else if (health.writable && !health.reason.empty() && last_.reason.empty()) {
        log_.write(LogSeverity::warning, "store_warning", {{"reason", health.reason}});
    }
    last_ = health;
}

}  // namespace opid
