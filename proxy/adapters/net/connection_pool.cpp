#include "adapters/net/connection_pool.hpp"

#include <algorithm>
#include <chrono>

#include "adapters/system/steady_clock.hpp"
#include "base/encoding.hpp"

namespace opid {

struct ConnectionPool::Idle {
    Stream stream;
    Deadline deadline;
    ConnectionPool* pool = nullptr;
    Shelf* shelf = nullptr;
    std::uint64_t generation = 0;
    SteadyInstant since;
};

ConnectionPool::ConnectionPool(Deadlines& deadlines) : deadlines_(deadlines) {}

ConnectionPool::~ConnectionPool() { clear(); }

void ConnectionPool::clear() {
    shelves_.clear();
    spare_.clear();
    count_ = 0;
}

std::optional<Stream> ConnectionPool::take(const Origin& origin, std::uint64_t generation, Millis idle_max) {
    const auto found = shelves_.find(origin.pool_key);
    if (found == shelves_.end()) return std::nullopt;
    auto& idle = found->second.idle;
    while (!idle.empty()) {
        std::unique_ptr<Idle> last = std::move(idle.back());
        idle.pop_back();
        --count_;
        last->deadline.disarm();
        Stream stream = std::move(last->stream);
        const bool young = last->generation == generation &&
                           (idle_max >= idle_limit || steady_now() - last->since <= idle_max);
        if (spare_.size() < idle_per_origin_) spare_.push_back(std::move(last));
        if (young && stream.fit_for_reuse()) return stream;
    }
    return std::nullopt;
}

void ConnectionPool::give(const Origin& origin, Stream stream, std::uint64_t generation, Millis keep) {
    if (keep <= Millis{0} || count_ >= idle_in_all) return;
    Shelf& shelf = shelves_[origin.pool_key];
    if (shelf.idle.size() >= idle_per_origin_) return;
    std::unique_ptr<Idle> entry;
    if (spare_.empty()) {
        entry = std::make_unique<Idle>();
    } else {
        entry = std::move(spare_.back());
        spare_.pop_back();
    }
    entry->stream = std::move(stream);
    entry->pool = this;
    entry->shelf = &shelf;
    entry->generation = generation;
    entry->since = steady_now();
    deadlines_.arm(entry->deadline, keep, on_idle_end, entry.get());
    shelf.idle.push_back(std::move(entry));
    ++count_;
}

void ConnectionPool::on_idle_end(void* idle) noexcept {
    auto* const entry = static_cast<Idle*>(idle);
    entry->pool->drop(*entry);
}

void ConnectionPool::drop(Idle& idle) noexcept {
    auto& entries = idle.shelf->idle;
    const auto at = std::find_if(entries.begin(), entries.end(), [&idle](const auto& e) { return e.get() == &idle; });
    if (at == entries.end()) return;
    entries.erase(at);
    --count_;
    if (!entries.empty()) return;
    // An origin that is no longer talked to leaves no trace.
    std::erase_if(shelves_, [](const auto& shelf) { return shelf.second.idle.empty(); });
}

Millis keep_hint(std::string_view keep_alive) {
    static constexpr std::string_view word = "timeout=";
    const std::string lower = ascii_lower(keep_alive);
    const std::size_t at = lower.find(word);
    if (at == std::string::npos) return ConnectionPool::idle_limit;
    Millis::rep seconds = 0;
    for (std::size_t i = at + word.size(); i < lower.size() && lower[i] >= '0' && lower[i] <= '9'; ++i) {
        seconds = std::min<Millis::rep>(seconds * 10 + (lower[i] - '0'), 3600);
    }
    return std::clamp(Millis{(seconds - 1) * 1000}, Millis{0}, ConnectionPool::idle_limit);
}

namespace {

class PoolService final : public boost::asio::execution_context::service {
public:
    using key_type = PoolService;
    inline static boost::asio::execution_context::id id;  // NOLINT: the name is Asio's

    explicit PoolService(boost::asio::execution_context& owner)
        : service(owner),
          pool(deadlines_of(static_cast<boost::asio::io_context&>(owner))) {}
    void shutdown() override { pool.clear(); }

    ConnectionPool pool;
};

}  // namespace

ConnectionPool& pool_of(boost::asio::io_context& context) {
    return boost::asio::use_service<PoolService>(context).pool;
}

}  // namespace opid
