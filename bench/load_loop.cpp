#include "load_loop.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>

#include <utility>

#include <fmt/format.h>

namespace opid::bench {
namespace {

constexpr std::chrono::seconds drain_time{30};
constexpr unsigned connect_failures_max = 100;
constexpr int ready_wait_ms = 10000;

}  // namespace

int dial(const std::string& target) {
    const auto colon = target.rfind(':');
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(to_number(std::string_view(target).substr(colon + 1))));
    if (inet_pton(AF_INET, target.substr(0, colon).c_str(), &address.sin_addr) != 1) return -1;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
        close(fd);
        return -1;
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    return fd;
}

Loop::Loop(const LoadOptions& options, Window& window, SSL_CTX* tls, unsigned connections, unsigned number)
    : options_(options),
      window_(window),
      tls_(tls),
      texts_(load_texts(options)),
      expectation_(options),
      random_(options.seed * 0x9E3779B97F4A7C15U + number + 1),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      sessions_(connections),
      connections_(connections) {}

Loop::~Loop() { close(epoll_); }

bool Loop::connect_all() {
    for (std::size_t i = 0; i < connections_.size(); ++i) {
        if (!open(i, options_.first) || !wait_until_ready(i)) return false;
    }
    return true;
}

void Loop::run() {
    start_all();
    std::vector<epoll_event> events(512);
    Time drain_until = Time::max();
    while (busy_ > 0) {
        const int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 1000);
        for (int i = 0; i < ready; ++i) dispatch(events[static_cast<std::size_t>(i)]);
        if (options_.joiners() && busy_ == 0) next_round();
        if (ready > 0 && !stopped_) continue;
        const auto now = Clock::now();
        if (now >= window_.stop_at && drain_until == Time::max()) drain_until = now + drain_time;
        if (now >= drain_until) break;
    }
    if (busy_ > 0) fail(fmt::format("{} requests without an answer", busy_), busy_);
}

// ---- Opening: TCP, tunnel, handshake -------------------------------------------------------------------------------

bool Loop::open(std::size_t at, std::uint64_t id) {
    auto& connection = connections_[at];
    connection = Connection{};
    connection.id = id;
    const int fd = dial(options_.target);
    if (fd < 0) return false;
    connection.wire = Wire(fd);
    watch(at, EPOLLIN, EPOLL_CTL_ADD);
    if (options_.connect != 0) {
        connection.stage = Stage::tunnel;
        write_out(at, texts_.connect.with_id(id));
    } else if (tls_ != nullptr) {
        start_handshake(at);
    }
    return true;
}

bool Loop::wait_until_ready(std::size_t at) {
    auto& connection = connections_[at];
    if (connection.stage == Stage::handshake) shake(at);
    while (connection.stage != Stage::ready && tally_.errors == 0) {
        pollfd one{connection.wire.fd(), POLLIN, 0};
        if (poll(&one, 1, ready_wait_ms) <= 0) return false;
        advance(at);
    }
    return tally_.errors == 0;
}

void Loop::watch(std::size_t at, std::uint32_t interest, int how) const {
    epoll_event event{};
    event.events = interest;
    event.data.u64 = at;
    epoll_ctl(epoll_, how, connections_[at].wire.fd(), &event);
}

void Loop::advance(std::size_t at) { connections_[at].stage == Stage::tunnel ? take_tunnel(at) : shake(at); }

void Loop::take_tunnel(std::size_t at) {
    auto& connection = connections_[at];
    const auto got = connection.wire.read(scratch_.data(), scratch_.size());
    if (got == Wire::nothing) return;
    if (got < 0) return lost(at, "connection closed instead of a tunnel");
    connection.pending.append(scratch_.data(), static_cast<std::size_t>(got));
    const auto length = head_length(connection.pending);
    if (length == 0) return;
    if (length != connection.pending.size() || connection.pending.substr(8, 5) != " 200 ") {
        return lost(at, connection.pending.substr(0, 400));
    }
    connection.pending.clear();
    if (tls_ == nullptr) return ready(at);
    start_handshake(at);
    shake(at);
}

void Loop::start_handshake(std::size_t at) {
    auto& connection = connections_[at];
    connection.stage = Stage::handshake;
    connection.greeted_at = Clock::now();
    connection.wire.start_tls(tls_, texts_.name.with_id(connection.id),
                              options_.resume != 0 ? &sessions_[at] : nullptr);
}

void Loop::shake(std::size_t at) {
    auto& connection = connections_[at];
    switch (connection.wire.handshake()) {
        case Wire::Handshake::wants_read: return;
        case Wire::Handshake::wants_write: return watch(at, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
        case Wire::Handshake::failed: return lost(at, "TLS: " + tls_error());
        case Wire::Handshake::done: break;
    }
    now_ = Clock::now();
    ++tally_.handshakes;
    if (connection.wire.resumed()) ++tally_.resumed;
    if (in_window()) {
        tally_.handshake.record(static_cast<std::uint64_t>((now_ - connection.greeted_at).count()));
    }
    ready(at);
}

void Loop::ready(std::size_t at) {
    auto& connection = connections_[at];
    connection.stage = Stage::ready;
    if (!std::exchange(connection.unasked, false)) return;
    if (options_.fresh == 0) connection.sent_at = Clock::now();
    write_out(at, texts_.request.with_id(connection.id));
}

// ---- Asking --------------------------------------------------------------------------------------------------------

void Loop::start_all() {
    if (options_.joiners()) return next_round();
    for (std::size_t i = 0; i < connections_.size(); ++i) send_next(i);
}

// False when the run is over. A count stops exactly, a duration by the clock.
bool Loop::take_turn(std::uint64_t& turn) {
    if (stopped_) return false;
    turn = window_.issued.fetch_add(1, std::memory_order_relaxed);
    if (options_.count != 0 ? turn >= options_.count : now_ >= window_.stop_at) {
        window_.issued.fetch_sub(1, std::memory_order_relaxed);
        stopped_ = true;
    }
    return !stopped_;
}

std::uint64_t Loop::id_of(std::uint64_t turn) {
    if (options_.shuffle != 0 && options_.ids != 0) {
        random_ ^= random_ << 13;
        random_ ^= random_ >> 7;
        random_ ^= random_ << 17;
        turn = random_;
    }
    return options_.first + (options_.ids != 0 ? turn % options_.ids : turn);
}

void Loop::send_next(std::size_t at) {
    std::uint64_t turn = 0;
    now_ = Clock::now();
    if (take_turn(turn)) send_request(at, id_of(turn));
}

// Joiners: all connections send one ID; the round ends when all have their answer.
void Loop::next_round() {
    if (unmarked_in_round_ != 1 && tally_.answered > 0) ++tally_.rounds_wrong;
    unmarked_in_round_ = 0;
    std::uint64_t turn = 0;
    now_ = Clock::now();
    if (!take_turn(turn)) return;
    ++tally_.rounds;
    for (std::size_t i = 0; i < connections_.size(); ++i) {
        send_request(i, options_.first + turn);
    }
}

void Loop::send_request(std::size_t at, std::uint64_t id) {
    const auto begun = Clock::now();
    if (options_.fresh != 0 && !open(at, id)) return fail("can't connect", 1);
    auto& connection = connections_[at];
    connection.busy = true;
    ++busy_;
    connection.id = id;
    connection.sent_at = begun;
    connection.unasked = true;
    if (connection.stage == Stage::handshake) return shake(at);
    if (connection.stage == Stage::ready) ready(at);
}

void Loop::write_out(std::size_t at, std::string_view bytes) {
    auto& connection = connections_[at];
    while (!bytes.empty()) {
        const auto sent = connection.wire.write(bytes);
        if (sent < 0) return;  // the read side reports the loss
        if (sent == Wire::nothing) break;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    if (bytes.empty()) return;
    connection.unsent.assign(bytes);
    watch(at, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
}

// ---- Answers -------------------------------------------------------------------------------------------------------

void Loop::dispatch(const epoll_event& event) {
    const auto at = static_cast<std::size_t>(event.data.u64);
    if ((event.events & EPOLLOUT) != 0) {
        const std::string rest = std::exchange(connections_[at].unsent, {});
        watch(at, EPOLLIN, EPOLL_CTL_MOD);
        write_out(at, rest);
    }
    if (connections_[at].stage != Stage::ready) return advance(at);
    if ((event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) return;
    while (read_some(at)) {}
}

// True when more waits in memory.
bool Loop::read_some(std::size_t at) {
    auto& connection = connections_[at];
    const auto got = connection.wire.read(scratch_.data(), scratch_.size());
    if (got == Wire::nothing) return false;
    if (got < 0) {
        lost(at, "connection closed before the answer");
        return false;
    }
    tally_.bytes += static_cast<std::uint64_t>(got);
    std::string_view data(scratch_.data(), static_cast<std::size_t>(got));
    std::string joined;
    if (!connection.pending.empty()) {
        joined = std::exchange(connection.pending, {}).append(data);
        data = joined;
    }
    const int fd = connection.wire.fd();
    consume(at, data);
    return connection.stage == Stage::ready && connection.wire.fd() == fd && connection.wire.more();
}

void Loop::consume(std::size_t at, std::string_view data) {
    auto& connection = connections_[at];
    while (!data.empty()) {
        if (!connection.busy) return lost(at, "bytes that nobody asked for");
        if (!connection.in_body) {
            const auto length = head_length(data);
            if (length == 0) {
                connection.pending.assign(data);
                return;
            }
            take_head(connection, data.substr(0, length));
            data.remove_prefix(length);
            if (!connection.in_body) continue;  // an interim answer
        }
        data.remove_prefix(connection.body.feed(data));
        if (connection.body.broken()) return lost(at, "broken chunk");
        if (!connection.body.done()) return;
        const bool more = !data.empty();
        if (more) return lost(at, "bytes after the answer");
        finish(at);
        return;
    }
}

void Loop::take_head(Connection& connection, std::string_view head) {
    connection.status = head.size() > 12 ? static_cast<unsigned>(to_number(head.substr(9, 3))) : 0;
    if (connection.status >= 100 && connection.status < 200) return;
    connection.in_body = true;
    connection.replayed = false;
    connection.body.expect_length(0);
    std::string_view operation;
    for_each_field(head, [&](std::string_view name, std::string_view value) {
        switch (name.size()) {  // few of the lengths matter, so most fields cost one jump
            case 10:
                if (same_name(name, "connection")) connection.close_after = same_name(value, "close");
                break;
            case 14:
                if (same_name(name, "content-length")) connection.body.expect_length(to_number(value));
                break;
            case 16:
                if (same_name(name, "operation-status")) operation = value;
                break;
            case 17:
                if (same_name(name, "transfer-encoding")) connection.body.expect_chunks();
                break;
            case 19:
                if (same_name(name, "idempotent-replayed")) connection.replayed = value == "true";
                break;
            default: break;
        }
    });
    if (!expectation_.accepts(connection.status, connection.replayed, operation)) {
        fail(std::string(head.substr(0, 400)), 1);
    }
}

void Loop::finish(std::size_t at) {
    auto& connection = connections_[at];
    now_ = Clock::now();
    connection.in_body = false;
    connection.busy = false;
    --busy_;
    ++tally_.answered;
    ++tally_.statuses[connection.status];
    ++(connection.replayed ? tally_.replayed : tally_.unmarked);
    if (!connection.replayed) ++unmarked_in_round_;
    if (in_window()) {
        ++tally_.measured;
        tally_.latency.record(static_cast<std::uint64_t>((now_ - connection.sent_at).count()));
    }
    if (options_.fresh != 0) {
        connection.wire.close();
    } else if (connection.close_after && !reopen(at)) {
        return;
    }
    if (!options_.joiners()) send_next(at);
}

bool Loop::in_window() const { return now_ >= window_.measure_from && (options_.count != 0 || now_ < window_.stop_at); }

void Loop::lost(std::size_t at, std::string_view why) {
    auto& connection = connections_[at];
    if (connection.busy || connection.stage != Stage::ready) fail(std::string(why), 1);
    if (connection.busy) --busy_;
    if (connection.stage != Stage::ready && ++connect_failures_ > connect_failures_max) stopped_ = true;
    connection.wire.close();
    connection.busy = false;
    if (stopped_ || (options_.fresh == 0 && !reopen(at))) return;
    if (!options_.joiners()) send_next(at);
}

bool Loop::reopen(std::size_t at) {
    ++tally_.reconnects;
    connections_[at].wire.close();
    if (open(at, connections_[at].id)) return true;
    fail("can't reconnect", 1);
    if (++connect_failures_ > connect_failures_max) stopped_ = true;
    return false;
}

void Loop::fail(std::string sample, std::uint64_t count) {
    tally_.errors += count;
    if (tally_.samples.size() < samples_max) tally_.samples.push_back(std::move(sample));
}

}  // namespace opid::bench
