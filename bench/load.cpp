// Closed-loop load: each connection sends, waits for the whole answer, checks it, sends the next. One epoll loop a
// thread, one write and one read a request, so that the generator takes little of the machine it measures.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "flags.hpp"
#include "http_wire.hpp"
#include "load_plan.hpp"
#include "load_tally.hpp"

namespace opid::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

constexpr std::chrono::seconds drain_time{30};
constexpr unsigned connect_failures_max = 100;

struct Connection {
    int fd = -1;
    Time sent_at;
    std::string unsent;
    std::string pending;  // an incomplete head
    BodySkipper body;
    bool in_body = false;
    bool busy = false;
    bool close_after = false;
    bool replayed = false;
    unsigned status = 0;
};

struct Window {  // shared by the threads
    Time measure_from;
    Time stop_at;
    std::atomic<std::uint64_t> issued{0};
};

class Loop {
public:
    Loop(const LoadOptions& options, Window& window, unsigned connections, unsigned number)
        : options_(options),
          window_(window),
          request_(options),
          expectation_(options),
          random_(options.seed * 0x9E3779B97F4A7C15U + number + 1),
          epoll_(epoll_create1(EPOLL_CLOEXEC)),
          connections_(connections) {}
    ~Loop() {
        for (const auto& connection : connections_) {
            if (connection.fd >= 0) close(connection.fd);
        }
        close(epoll_);
    }
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    bool connect_all() {
        for (std::size_t i = 0; i < connections_.size(); ++i) {
            if (!open(i)) return false;
        }
        return true;
    }

    void run() {
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

    const Tally& tally() const { return tally_; }

private:
    bool open(std::size_t at) {
        auto& connection = connections_[at];
        connection = Connection{};
        const auto colon = options_.target.rfind(':');
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(
            static_cast<std::uint16_t>(to_number(std::string_view(options_.target).substr(colon + 1))));
        if (inet_pton(AF_INET, options_.target.substr(0, colon).c_str(), &address.sin_addr) != 1) return false;
        connection.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(connection.fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return false;
        const int on = 1;
        setsockopt(connection.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        watch(at, EPOLLIN, EPOLL_CTL_ADD);
        return true;
    }

    void watch(std::size_t at, std::uint32_t interest, int how) const {
        epoll_event event{};
        event.events = interest;
        event.data.u64 = at;
        epoll_ctl(epoll_, how, connections_[at].fd, &event);
    }

    void start_all() {
        if (options_.joiners()) return next_round();
        for (std::size_t i = 0; i < connections_.size(); ++i) send_next(i);
    }

    // False when the run is over. A count stops exactly, a duration by the clock.
    bool take_turn(std::uint64_t& turn) {
        if (stopped_) return false;
        turn = window_.issued.fetch_add(1, std::memory_order_relaxed);
        if (options_.count != 0 ? turn >= options_.count : now_ >= window_.stop_at) {
            window_.issued.fetch_sub(1, std::memory_order_relaxed);
            stopped_ = true;
        }
        return !stopped_;
    }

    std::uint64_t id_of(std::uint64_t turn) {
        if (options_.shuffle != 0 && options_.ids != 0) {
            random_ ^= random_ << 13;
            random_ ^= random_ >> 7;
            random_ ^= random_ << 17;
            turn = random_;
        }
        return options_.first + (options_.ids != 0 ? turn % options_.ids : turn);
    }

    void send_next(std::size_t at) {
        std::uint64_t turn = 0;
        now_ = Clock::now();
        if (take_turn(turn)) send_request(at, id_of(turn));
    }

    // Joiners: all connections send one ID; the round ends when all have their answer.
    void next_round() {
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

    void send_request(std::size_t at, std::uint64_t id) {
        auto& connection = connections_[at];
        connection.busy = true;
        ++busy_;
        connection.sent_at = Clock::now();
        write_out(at, request_.with_id(id));
    }

    void write_out(std::size_t at, std::string_view bytes) {
        auto& connection = connections_[at];
        const auto sent = send(connection.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent == static_cast<ssize_t>(bytes.size())) return;
        if (sent < 0 && errno != EAGAIN) return;  // the read side reports the loss
        if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
        connection.unsent.assign(bytes);
        watch(at, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
    }

    void dispatch(const epoll_event& event) {
        const auto at = static_cast<std::size_t>(event.data.u64);
        if ((event.events & EPOLLOUT) != 0) {
            const std::string rest = std::exchange(connections_[at].unsent, {});
            watch(at, EPOLLIN, EPOLL_CTL_MOD);
            write_out(at, rest);
        }
        if ((event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) read_some(at);
    }

    void read_some(std::size_t at) {
        auto& connection = connections_[at];
        const auto got = recv(connection.fd, scratch_.data(), scratch_.size(), MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (got <= 0) return lost(at, "connection closed before the answer");
        tally_.bytes += static_cast<std::uint64_t>(got);
        std::string_view data(scratch_.data(), static_cast<std::size_t>(got));
        std::string joined;
        if (!connection.pending.empty()) {
            joined = std::exchange(connection.pending, {}).append(data);
            data = joined;
        }
        consume(at, data);
    }

    void consume(std::size_t at, std::string_view data) {
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

    void take_head(Connection& connection, std::string_view head) {
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

    void finish(std::size_t at) {
        auto& connection = connections_[at];
        now_ = Clock::now();
        connection.in_body = false;
        connection.busy = false;
        --busy_;
        ++tally_.answered;
        ++tally_.statuses[connection.status];
        ++(connection.replayed ? tally_.replayed : tally_.unmarked);
        if (!connection.replayed) ++unmarked_in_round_;
        if (now_ >= window_.measure_from && (options_.count != 0 || now_ < window_.stop_at)) {
            ++tally_.measured;
            tally_.latency.record(static_cast<std::uint64_t>((now_ - connection.sent_at).count()));
        }
        if (connection.close_after && !reopen(at)) return;
        if (!options_.joiners()) send_next(at);
    }

    void lost(std::size_t at, std::string_view why) {
        if (connections_[at].busy) {
            --busy_;
            fail(std::string(why), 1);
        }
        if (!reopen(at)) return;
        if (!options_.joiners()) send_next(at);
    }

    bool reopen(std::size_t at) {
        ++tally_.reconnects;
        close(connections_[at].fd);
        if (open(at)) return true;
        fail("can't reconnect", 1);
        if (++connect_failures_ > connect_failures_max) stopped_ = true;
        return false;
    }

    void fail(std::string sample, std::uint64_t count) {
        tally_.errors += count;
        if (tally_.samples.size() < samples_max) tally_.samples.push_back(std::move(sample));
    }

    const LoadOptions& options_;
    Window& window_;
    RequestText request_;
    Expectation expectation_;
    std::uint64_t random_;
    int epoll_;
    std::vector<Connection> connections_;
    std::vector<char> scratch_ = std::vector<char>(1u << 17);
    std::size_t busy_ = 0;
    std::uint64_t unmarked_in_round_ = 0;
    unsigned connect_failures_ = 0;
    bool stopped_ = false;
    Time now_;
    Tally tally_;
};

int measure(const LoadOptions& options) {
    Window window;
    std::vector<std::unique_ptr<Loop>> loops;
    for (unsigned i = 0; i < options.threads; ++i) {
        const unsigned share = options.connections / options.threads +
                               (i < options.connections % options.threads ? 1 : 0);
        loops.push_back(std::make_unique<Loop>(options, window, share, i));
        if (!loops.back()->connect_all()) {
            fmt::print(stderr, "can't connect to {}\n", options.target);
            return 1;
        }
    }
    const auto start = Clock::now();
    const auto seconds = [](double value) {
        return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(value));
    };
    window.measure_from = options.count != 0 ? start : start + seconds(options.warmup);
    window.stop_at = window.measure_from + (options.count != 0 ? std::chrono::hours(24) : seconds(options.duration));
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < loops.size(); ++i) threads.emplace_back([&loops, i] { loops[i]->run(); });
    loops.front()->run();
    for (auto& thread : threads) thread.join();
    const auto end = options.count != 0 ? Clock::now() : window.stop_at;
    Tally total;
    for (const auto& loop : loops) total.add(loop->tally());
    print_tally(options, total, options.first + window.issued.load(),
                std::chrono::duration<double>(end - window.measure_from).count());
    return total.errors == 0 ? 0 : 3;
}

bool valid(const LoadOptions& options) {
    static const std::set<std::string> modes{"pass-get", "pass-post", "write", "replay",
                                             "mismatch", "joiners",   "lookup"};
    if (modes.count(options.mode) == 0 || options.target.find(':') == std::string::npos) return false;
    if (options.threads == 0 || options.connections < options.threads) return false;
    return !options.joiners() || options.threads == 1;  // a round is one thread's barrier
}

int run(int count, char** words) {
    LoadOptions options;
    Flags flags(load_usage);
    flags.text("--target", options.target);
    flags.text("--mode", options.mode);
    flags.text("--path", options.path);
    flags.text("--absolute", options.absolute);
    flags.text("--header", options.header);
    flags.number("--connections", options.connections);
    flags.number("--threads", options.threads);
    flags.number("--duration", options.duration);
    flags.number("--warmup", options.warmup);
    flags.number("--count", options.count);
    flags.number("--body", options.body);
    flags.text("--prefix", options.prefix);
    flags.number("--seed", options.seed);
    flags.number("--first", options.first);
    flags.number("--ids", options.ids);
    flags.number("--shuffle", options.shuffle);
    flags.text("--expect", options.expect);
    flags.text("--expect-replayed", options.expect_replayed);
    flags.text("--expect-operation", options.expect_operation);
    flags.parse(count, words);
    if (options.prefix.empty()) options.prefix = fmt::format("s{}-", options.seed);
    if (!valid(options)) {
        fmt::print(stderr, "a wrong mode, target or number of threads\n{}", load_usage);
        return 2;
    }
    return measure(options);
}

}  // namespace
}  // namespace opid::bench

int main(int count, char** words) { return opid::bench::run(count, words); }
