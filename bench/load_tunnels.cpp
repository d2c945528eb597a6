#include "load_tunnels.hpp"

#include <poll.h>
#include <sys/epoll.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bulk.hpp"
#include "http_wire.hpp"
#include "load_loop.hpp"
#include "load_tally.hpp"
#include "wire.hpp"

namespace opid::bench {
namespace {

constexpr int answer_wait_ms = 10000;
constexpr std::chrono::seconds counted_time{120};

struct Tunnel {
    Wire wire;
    BulkEnd end;
    std::string verdict;
    bool done = false;
};

class Bulk {
public:
    explicit Bulk(const LoadOptions& options)
        : options_(options),
          epoll_(epoll_create1(EPOLL_CLOEXEC)),
          tunnels_(options.connections) {
        const auto direction = std::string_view(options.mode).substr(std::string_view("tunnel-").size());
        plan_ = {direction != "down", direction != "up", options.count};
    }
    ~Bulk() { close(epoll_); }
    Bulk(const Bulk&) = delete;
    Bulk& operator=(const Bulk&) = delete;

    bool open_all() {
        for (std::size_t i = 0; i < tunnels_.size(); ++i) {
            if (!open(i)) return false;
        }
        return true;
    }

    // Returns the seconds that were measured.
    double run() {
        for (std::size_t i = 0; i < tunnels_.size(); ++i) start(i);
        const auto begun = Clock::now();
        if (plan_.count != 0) {
            move_until(begun + counted_time);
            for (const auto& tunnel : tunnels_) {
                if (!tunnel.done) fail("a tunnel did not end");
            }
            return std::chrono::duration<double>(Clock::now() - begun).count();
        }
        const auto seconds = [](double value) {
            return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(value));
        };
        move_until(begun + seconds(options_.warmup));
        const auto before = moved();
        const auto from = Clock::now();
        move_until(from + seconds(options_.duration));
        measured_ = moved() - before;
        return std::chrono::duration<double>(Clock::now() - from).count();
    }

    std::uint64_t moved() const {
        std::uint64_t bytes = 0;
        for (const auto& tunnel : tunnels_) bytes += tunnel.end.sent() + tunnel.end.received();
        return bytes;
    }
    std::uint64_t measured() const { return plan_.count != 0 ? moved() : measured_; }
    std::uint64_t errors() const { return errors_; }
    const std::string& sample() const { return sample_; }

private:
    bool open(std::size_t at) {
        const int fd = dial(options_.target);
        if (fd < 0) return false;
        auto& tunnel = tunnels_[at];
        tunnel.wire = Wire(fd);
        tunnel.end = BulkEnd(fd, plan_.up, plan_.down, plan_.count);
        if (options_.connect == 0) return true;
        tunnel.wire.write(fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n\r\n", options_.authority));
        std::string answer;
        char bytes[1024];
        while (head_length(answer) == 0) {
            pollfd one{fd, POLLIN, 0};
            if (poll(&one, 1, answer_wait_ms) <= 0) return false;
            const auto got = tunnel.wire.read(bytes, sizeof bytes);
            if (got < 0) return false;
            answer.append(bytes, static_cast<std::size_t>(got));
        }
        if (head_length(answer) == answer.size() && answer.substr(8, 5) == " 200 ") return true;
        sample_ = answer.substr(0, 400);
        return false;
    }

    void start(std::size_t at) {
        auto& tunnel = tunnels_[at];
        tunnel.wire.write(plan_.head());
        epoll_event event{};
        event.events = EPOLLIN | (plan_.up ? EPOLLOUT : 0U);
        event.data.u64 = at;
        epoll_ctl(epoll_, EPOLL_CTL_ADD, tunnel.wire.fd(), &event);
        ++running_;
    }

    void move_until(Clock::time_point end) {
        std::vector<epoll_event> events(256);
        while (running_ > 0 && Clock::now() < end) {
            const int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 50);
            for (int i = 0; i < ready; ++i) {
                const auto& event = events[static_cast<std::size_t>(i)];
                serve(static_cast<std::size_t>(event.data.u64), event.events);
            }
        }
    }

    void serve(std::size_t at, std::uint32_t events) {
        auto& tunnel = tunnels_[at];
        if (tunnel.done) return;
        if ((events & EPOLLOUT) != 0) {
            if (!tunnel.end.send_some(pattern_)) return finish(tunnel, "connection closed while sending");
            if (!tunnel.end.wants_to_send()) quiet(at);
        }
        if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
            const bool alive = tunnel.end.wants_to_receive() ? tunnel.end.receive_some(pattern_, scratch_)
                                                             : take_verdict(tunnel);
            if (!alive) return finish(tunnel, "connection closed while receiving");
        }
        if (tunnel.end.damaged()) return finish(tunnel, "bytes were changed on their way down");
        if (tunnel.end.wants_to_send() || tunnel.end.wants_to_receive()) return;
        if (plan_.up && tunnel.verdict.size() < bulk_received.size()) return;
        finish(tunnel, plan_.up && tunnel.verdict != bulk_received ? "bytes were changed on their way up" : "");
    }

    void quiet(std::size_t at) const {
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u64 = at;
        epoll_ctl(epoll_, EPOLL_CTL_MOD, tunnels_[at].wire.fd(), &event);
    }

    bool take_verdict(Tunnel& tunnel) {
        char bytes[64];
        const auto got = tunnel.wire.read(bytes, sizeof bytes);
        if (got > 0) tunnel.verdict.append(bytes, static_cast<std::size_t>(got));
        return got >= 0 && tunnel.verdict.size() <= bulk_received.size();
    }

    void finish(Tunnel& tunnel, std::string_view why) {
        tunnel.done = true;
        tunnel.wire.close();
        --running_;
        if (!why.empty()) fail(why);
    }

    void fail(std::string_view why) {
        ++errors_;
        if (sample_.empty()) sample_ = why;
    }

    const LoadOptions& options_;
    BulkPlan plan_;
    int epoll_;
    std::vector<Tunnel> tunnels_;
    Pattern pattern_;
    std::vector<char> scratch_ = std::vector<char>(1u << 17);
    std::size_t running_ = 0;
    std::uint64_t measured_ = 0;
    std::uint64_t errors_ = 0;
    std::string sample_;
};

}  // namespace

int move_bulk(const LoadOptions& options) {
    Bulk bulk(options);
    if (!bulk.open_all()) {
        fmt::print(stderr, "no tunnel through {}: {}\n", options.target, bulk.sample());
        return 1;
    }
    const double seconds = bulk.run();
    constexpr double mib = 1048576;
    fmt::print(R"({{"mode":{},"connections":{},"seconds":{:.3f},"mib_per_s":{:.1f},"answered":{:.1f},"bytes":{},)"
               R"("errors":{},"samples":[{}]}})"
               "\n",
               quoted(options.mode), options.connections, seconds, static_cast<double>(bulk.measured()) / mib / seconds,
               static_cast<double>(bulk.moved()) / mib, bulk.moved(), bulk.errors(),
               bulk.sample().empty() ? "" : quoted(bulk.sample()));
    return bulk.errors() == 0 ? 0 : 3;
}

}  // namespace opid::bench
