#include "support/sim_world.hpp"

#include <fmt/format.h>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>

#include "base/encoding.hpp"
#include "engine/binding.hpp"

namespace opid::test {

Task<> SimTimers::sleep_for(Millis time) {
    auto initiation = [this, time](auto handler) {
        auto kept = std::make_shared<decltype(handler)>(std::move(handler));
        auto entry = std::make_shared<Entry>();
        entry->fire = [this, kept] { boost::asio::post(io_, [kept]() mutable { std::move (*kept)(); }); };
        timers_.emplace(now_ + time, std::move(entry));
    };
    co_await boost::asio::async_initiate<decltype(use_task), void()>(initiation, use_task);
}

std::shared_ptr<void> SimTimers::after(Executor, Millis time, std::function<void()> action) {
    auto entry = std::make_shared<Entry>();
    const std::weak_ptr<Entry> weak = entry;
    auto fire = std::make_shared<Entry>();
    fire->fire = [weak, action = std::move(action)] {
        if (weak.lock()) action();
    };
    timers_.emplace(now_ + time, std::move(fire));
    return entry;
}

bool SimTimers::run() {
    for (;;) {
        io_.restart();
        io_.poll();
        if (timers_.empty()) return true;
        const auto next = timers_.begin();
        now_ = std::max(now_, next->first);
        const std::shared_ptr<Entry> entry = next->second;
        timers_.erase(next);
        entry->fire();
    }
}

void QuietObserver::moved(const Operation& operation, const HistoryEvent& event) noexcept {
    const auto [place, fresh] = seen_.try_emplace(operation.id, operation.version, operation.status);
    if (fresh) return;
    auto& [version, status] = place->second;
    if (operation.version <= version) broken.push_back(operation.id + ": the version went back");
    if (is_final(status)) broken.push_back(operation.id + ": a final status moved by " + event.what);
    place->second = {operation.version, operation.status};
}

namespace {

std::string key_in(const std::string& fields) {
    constexpr std::string_view name = "idempotency-key: ";
    const std::string lower = ascii_lower(fields);
    const auto at = lower.find(name);
    if (at == std::string::npos) return {};
    return fields.substr(at + name.size(), fields.find('\r', at) - at - name.size());
}

Exchange answered(int status, std::string body) {
    Exchange exchange;
    exchange.answered = true;
    exchange.evidence.stage = Stage::answered;
    exchange.evidence.http_status = status;
    exchange.response.status = status;
    exchange.response.fields = {{"Content-Type", "application/json"}};
    exchange.response.body_size = body.size();
    exchange.response.body_digest = sha256(body);
    exchange.response.body = std::move(body);
    return exchange;
}

Exchange unanswered(Stage stage, std::string failure) {
    Exchange exchange;
    exchange.evidence.stage = stage;
    exchange.evidence.failure = std::move(failure);
    return exchange;
}

}  // namespace

Exchange SimProvider::answer(const std::string& body, const std::string& key, Fate fate) {
    const bool arrives = fate != Fate::refused && fate != Fate::lost_before;
    if (arrives) {
        ++ledger_.sends[body];
        if (!key.empty()) ledger_.keys[body].insert(key);
    }
    const bool gate = fate == Fate::limited || fate == Fate::invalid || fate == Fate::error_before;
    const bool known = ledger_.keyed && arrives && !gate && ledger_.key_memory.count(key) > 0;
    if (arrives && !gate && !known) {
        ++ledger_.effects[body];
        if (ledger_.keyed) ledger_.key_memory[key] = body;
    }
    switch (fate) {
        case Fate::refused: return unanswered(Stage::resolved, "refused");
        case Fate::lost_before:
        case Fate::lost_after: return unanswered(Stage::body_written, "reset");
        case Fate::cut: return unanswered(Stage::first_byte, "cut");
        case Fate::error_before:
        case Fate::error_after: return answered(500, "{\"error\":\"trouble\"}");
        case Fate::limited: return answered(429, "{\"error\":\"slow down\"}");
        case Fate::invalid: return answered(400, "{\"error\":\"invalid\"}");
        case Fate::works: return answered(201, fmt::format("{{\"made\":\"{}\"}}", hex(body).substr(0, 16)));
    }
    return unanswered(Stage::none, "?");
}

Task<Exchange> SimProvider::send(const OutboundRequest& request, ResponseSink*) {
    const std::string body(request.body);
    const std::string key = key_in(request.fields);
    const Fate fate = fate_();
    if (before_bytes) before_bytes(request);
    port_("send", true);
    co_await timers_.sleep_for(latency_());
    Exchange exchange = answer(body, key, fate);
    if (shape && exchange.answered) shape(exchange.response);
    port_("send", false);
    co_await timers_.sleep_for(latency_());
    co_return exchange;
}

Task<Exchange> SimProvider::look_up(const LookUpRequest&) { co_return unanswered(Stage::none, "no look-up here"); }

ProfilePtr sim_profile(bool keyed) {
    Profile profile;
    profile.provider = "sim";
    profile.hosts = {"api.sim.test"};
    profile.upstream_scheme = "https";
    profile.upstream_authority = "api.sim.test";
    profile.digest = keyed ? "keyed" : "plain";
    Rule& rule = profile.default_rule;
    rule.name = "writes";
    rule.recovery.steps = {ReviewStep{}};
    if (keyed) {
        rule.key.carrier = *parse_key_carrier("header:Idempotency-Key");
        rule.key.stores = *StatusSet::parse({"2xx"});
        rule.recovery.has_key = true;
        rule.recovery.key_window = Millis{86400000};
        rule.recovery.steps = {KeyedRetryStep{20, {}}, ReviewStep{}};
    }
    return std::make_shared<const Profile>(std::move(profile));
}

GuardedWrite sim_write(const ProfilePtr& profile, const std::string& id, const std::string& body) {
    GuardedWrite write;
    write.tenant = "default";
    write.profile = profile;
    write.rule = &profile->default_rule;
    write.id = OperationId{id};
    write.intent.method = "POST";
    write.intent.scheme_authority = "https://api.sim.test";
    write.intent.path = "/v1/things";
    write.intent.media_type = "application/json";
    write.intent.body = body;
    write.fields = "Content-Type: application/json\r\n";
    return write;
}

std::string field_of(const GuardedAnswer& answer, std::string_view name) {
    for (const auto& [field, value] : answer.answer.fields) {
        if (equal_ignoring_case(field, name)) return value;
    }
    return {};
}

namespace {

MemoryOptions store_options(const SimProcess::Parts& parts) {
    MemoryOptions options;
    options.fault = parts.store_fault;
    return options;
}

EngineParts engine_parts(SimProcess& process, std::uint64_t epoch) {
    NodeIdentity node;
    node.name = "sim";
    node.epoch = epoch;
    return EngineParts{
        process.store, process.provider, process.timers, process.entropy, process.observer, EngineLimits{}, node};
}

}  // namespace

SimProcess::SimProcess(Parts parts)
    : timers(io),
      entropy(parts.epoch * 7919),
      store(parts.disk ? MemoryStore(store_options(parts), parts.disk) : MemoryStore(store_options(parts))),
      provider(parts.ledger, timers, parts.fate, parts.provider_port, parts.latency),
      board(std::make_shared<const ProfileSet>(std::vector<ProfilePtr>{sim_profile(parts.ledger.keyed)})),
      engine(engine_parts(*this, parts.epoch)) {
    if (parts.start != Instant{}) timers.start_at(parts.start);
}

void SimProcess::spawn(Task<> task) {
    boost::asio::co_spawn(io, std::move(task), [this](std::exception_ptr error) {
        if (!error) return;
        try {
            std::rethrow_exception(error);
        } catch (const PowerCut&) {
            cut_ = true;
            io.stop();
        }
    });
}

// A commit runs in a step of its own, not in the coroutine that waits for it.
bool SimProcess::run() {
    try {
        return timers.run() && !cut_;
    } catch (const PowerCut&) {
        cut_ = true;
        return false;
    }
}

bool SimProcess::run(Task<> task) {
    spawn(std::move(task));
    return run();
}

}  // namespace opid::test
