// A fake provider that is as cheap as possible: one thread, epoll, keep-alive. It reads every request whole, counts it,
// and answers with a constant. A request that is not GET, HEAD or OPTIONS is an effect; GET /__count tells the counts.
// With a certificate it listens on a second port that speaks TLS, with --bulk 1 on one that moves bytes (bulk.hpp).
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "flags.hpp"
#include "http_wire.hpp"
#include "listener.hpp"
#include "upstream_bulk.hpp"
#include "wire.hpp"

namespace opid::bench {
namespace {

constexpr std::string_view usage =
    "opid_upstream [--port 0] [--status 200] [--size 500] [--delay-ms 0] [--track-keys 0|1]\n"
    "              [--tls-chain FILE --tls-key FILE] [--bulk 0|1]\n"
    "  prints 'listening 127.0.0.1:PORT', then 'tls ADDRESS' and 'bulk ADDRESS' on the same line where asked for;\n"
    "  SIGUSR1 prints the counts, SIGTERM too and ends it; GET /__count tells them\n";

constexpr std::size_t pending_bytes_max = 1u << 20;

struct Options {
    std::uint16_t port = 0;
    unsigned status = 200;
    std::size_t size = 500;
    unsigned delay_ms = 0;
    unsigned track_keys = 0;
    std::string tls_chain;
    std::string tls_key;
    unsigned bulk = 0;
};

struct Counts {
    std::uint64_t requests = 0;
    std::uint64_t effects = 0;
    std::uint64_t repeated_keys = 0;
    std::uint64_t handshakes = 0;  // of the TLS port
    std::uint64_t broken = 0;
};

struct Connection {
    Wire wire;
    std::uint64_t serial = 0;
    std::string pending;  // bytes of an incomplete head, or of requests behind a delayed answer
    std::string unsent;
    BodySkipper body;
    bool handshaking = false;
    bool in_body = false;
    bool count_only = false;  // GET /__count
    bool close_after = false;
    bool waiting = false;  // an answer is delayed
};

using Clock = std::chrono::steady_clock;

class Upstream {
public:
    explicit Upstream(const Options& options) : options_(options), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
        answer_ = response(options_.status, json_body(options_.size));
    }

    void serve_on(const Listener& listener, SSL_CTX* tls) {
        (tls == nullptr ? listener_ : tls_listener_) = listener.fd;
        if (tls != nullptr) tls_ = tls;
        watch(listener.fd, EPOLLIN, EPOLL_CTL_ADD);
    }

    // `signals`: blocked ones, to be told of.
    void run(const sigset_t& signals) {
        signals_ = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
        watch(signals_, EPOLLIN, EPOLL_CTL_ADD);
        std::vector<epoll_event> events(512);
        while (!stopping_) {
            const int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), timeout());
            for (int i = 0; i < ready; ++i) dispatch(events[static_cast<std::size_t>(i)]);
            send_due();
        }
    }

private:
    static std::string json_body(std::size_t size) {
        std::string body = R"({"id":"obj_1","object":"effect","status":"succeeded","note":")";
        if (body.size() + 2 < size) body.append(size - body.size() - 2, 'x');
        return body + "\"}";
    }
    static std::string response(unsigned status, std::string_view body) {
        return fmt::format("HTTP/1.1 {} Answer\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
                           status, body.size(), body);
    }
    std::string counts_text() const {
        return fmt::format(R"({{"requests":{},"effects":{},"distinct_keys":{},"repeated_keys":{},"handshakes":{},)"
                           R"("broken":{}}})",
                           counts_.requests, counts_.effects, keys_.size(), counts_.repeated_keys, counts_.handshakes,
                           counts_.broken);
    }
    void watch(int fd, std::uint32_t interest, int how) const {
        epoll_event event{};
        event.events = interest;
        event.data.fd = fd;
        epoll_ctl(epoll_, how, fd, &event);
    }
    int timeout() const {
        if (delayed_.empty()) return -1;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(delayed_.front().due - Clock::now()).count();
        return left < 0 ? 0 : static_cast<int>(left);
    }

    void dispatch(const epoll_event& event) {
        const int fd = event.data.fd;
        if (fd == listener_ || fd == tls_listener_) return accept_all(fd);
        if (fd == signals_) return take_signal();
        if (const auto* connection = find(fd); connection != nullptr && connection->handshaking) return greet(fd);
        if ((event.events & EPOLLOUT) != 0 && !flush(fd)) return;
        if ((event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) read_some(fd);
    }

    void take_signal() {
        signalfd_siginfo info{};
        while (read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
            fmt::print("{}\n", counts_text());
            std::fflush(stdout);
            if (info.ssi_signo != SIGUSR1) stopping_ = true;
        }
    }

    void accept_all(int listener) {
        for (;;) {
            const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
            if (fd < 0) return;
            const int on = 1;
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            const auto slot = static_cast<std::size_t>(fd);
            if (connections_.size() <= slot) connections_.resize(slot + 1);
            connections_[slot] = std::make_unique<Connection>();
            auto& connection = *connections_[slot];
            connection.wire = Wire(fd);
            connection.serial = ++serial_;
            connection.handshaking = listener == tls_listener_;
            if (connection.handshaking) connection.wire.accept_tls(tls_);
            watch(fd, EPOLLIN, EPOLL_CTL_ADD);
        }
    }

    Connection* find(int fd) const { return connections_[static_cast<std::size_t>(fd)].get(); }

    void drop(int fd) { connections_[static_cast<std::size_t>(fd)].reset(); }  // which closes it

    void greet(int fd) {
        Connection& connection = *find(fd);
        switch (connection.wire.handshake()) {
            case Wire::Handshake::wants_read: return watch(fd, EPOLLIN, EPOLL_CTL_MOD);
            case Wire::Handshake::wants_write: return watch(fd, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
            case Wire::Handshake::failed: ++counts_.broken; return drop(fd);
            case Wire::Handshake::done: break;
        }
        connection.handshaking = false;
        ++counts_.handshakes;
        if (connection.wire.more()) read_some(fd);
    }

    void read_some(int fd) {
        while (find(fd) != nullptr && read_once(fd)) {}
    }

    // True when more waits in memory. May drop the connection.
    bool read_once(int fd) {
        Connection* connection = find(fd);
        const auto got = connection->wire.read(scratch_.data(), scratch_.size());
        if (got == Wire::nothing) return false;
        if (got < 0) {
            if (connection->in_body || !connection->pending.empty()) ++counts_.broken;
            drop(fd);
            return false;
        }
        take(fd, std::string_view(scratch_.data(), static_cast<std::size_t>(got)));
        connection = find(fd);
        return connection != nullptr && connection->wire.more();
    }

    void take(int fd, std::string_view fresh) {
        Connection* connection = find(fd);
        if (connection->pending.empty() && !connection->waiting) return consume(fd, fresh);
        connection->pending.append(fresh);
        if (connection->pending.size() > pending_bytes_max) return drop(fd);
        resume(fd);
    }

    void resume(int fd) {
        Connection* connection = find(fd);
        if (connection->waiting) return;
        const std::string data = std::exchange(connection->pending, {});
        consume(fd, data);
    }

    // Takes all complete requests out of data; keeps the rest for later. May drop the connection.
    void consume(int fd, std::string_view data) {
        Connection* connection = find(fd);
        while (!data.empty() && !connection->waiting) {
            if (!connection->in_body) {
                const auto length = head_length(data);
                if (length == 0) break;
                take_head(fd, data.substr(0, length));
                data.remove_prefix(length);
            }
            data.remove_prefix(connection->body.feed(data));
            if (connection->body.broken()) {
                ++counts_.broken;
                return drop(fd);
            }
            if (!connection->body.done()) break;
            connection->in_body = false;
            if (!answer(fd)) return;
        }
        connection->pending.assign(data);
    }

    void take_head(int fd, std::string_view head) {
        Connection& connection = *find(fd);
        connection.in_body = true;
        connection.body.expect_length(0);
        const bool read = head.starts_with("GET ") || head.starts_with("HEAD ") || head.starts_with("OPTIONS ");
        connection.count_only = head.starts_with("GET /__count ");
        if (!connection.count_only) {
            ++counts_.requests;
            if (!read) ++counts_.effects;
        }
        bool continue_wanted = false;
        for_each_field(head, [&](std::string_view name, std::string_view value) {
            if (same_name(name, "content-length")) connection.body.expect_length(to_number(value));
            if (same_name(name, "transfer-encoding")) connection.body.expect_chunks();
            if (same_name(name, "connection")) connection.close_after = same_name(value, "close");
            if (same_name(name, "expect")) continue_wanted = true;
            if (options_.track_keys != 0 && same_name(name, "idempotency-key") && !keys_.emplace(value).second) {
                ++counts_.repeated_keys;
            }
        });
        if (continue_wanted) write_out(fd, "HTTP/1.1 100 Continue\r\n\r\n");
    }

    // False when the connection is gone.
    bool answer(int fd) {
        Connection& connection = *find(fd);
        if (connection.count_only) return finish(fd, response(200, counts_text()));
        if (options_.delay_ms == 0) return finish(fd, answer_);
        connection.waiting = true;
        delayed_.push_back({Clock::now() + std::chrono::milliseconds(options_.delay_ms), fd, connection.serial});
        return true;
    }

    bool finish(int fd, std::string_view bytes) {
        if (!write_out(fd, bytes)) return false;
        if (!find(fd)->close_after) return true;
        drop(fd);
        return false;
    }

    void send_due() {
        while (!delayed_.empty() && delayed_.front().due <= Clock::now()) {
            const auto next = delayed_.front();
            delayed_.pop_front();
            Connection* connection = find(next.fd);
            if (connection == nullptr || connection->serial != next.serial) continue;
            connection->waiting = false;
            if (finish(next.fd, answer_)) resume(next.fd);
        }
    }

    bool write_out(int fd, std::string_view bytes) {
        Connection& connection = *find(fd);
        if (connection.unsent.empty()) {
            const auto sent = connection.wire.write(bytes);
            if (sent == static_cast<std::ptrdiff_t>(bytes.size())) return true;
            if (sent < 0) {
                drop(fd);
                return false;
            }
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        connection.unsent.append(bytes);
        watch(fd, EPOLLIN | EPOLLOUT, EPOLL_CTL_MOD);
        return true;
    }

    bool flush(int fd) {
        Connection* connection = find(fd);
        if (connection == nullptr) return false;
        const std::string bytes = std::exchange(connection->unsent, {});
        watch(fd, EPOLLIN, EPOLL_CTL_MOD);
        return write_out(fd, bytes);
    }

    struct Delayed {
        Clock::time_point due;
        int fd;
        std::uint64_t serial;
    };

    Options options_;
    int epoll_;
    int listener_ = -1;
    int tls_listener_ = -1;
    SSL_CTX* tls_ = nullptr;
    int signals_ = -1;
    bool stopping_ = false;
    std::uint64_t serial_ = 0;
    Counts counts_;
    std::string answer_;
    std::vector<char> scratch_ = std::vector<char>(1u << 17);
    std::vector<std::unique_ptr<Connection>> connections_ = std::vector<std::unique_ptr<Connection>>(64);
    std::deque<Delayed> delayed_;  // one constant delay, so they fall due in order
    std::unordered_set<std::string> keys_;
};

int complain(const std::string& what) {
    fmt::print(stderr, "{}\n", what);
    return 1;
}

int serve(int count, char** words) {
    Options options;
    Flags flags(usage);
    flags.number("--port", options.port);
    flags.number("--status", options.status);
    flags.number("--size", options.size);
    flags.number("--delay-ms", options.delay_ms);
    flags.number("--track-keys", options.track_keys);
    flags.text("--tls-chain", options.tls_chain);
    flags.text("--tls-key", options.tls_key);
    flags.number("--bulk", options.bulk);
    flags.parse(count, words);
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without a flag against it
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {SIGUSR1, SIGTERM, SIGINT}) sigaddset(&signals, number);
    sigprocmask(SIG_BLOCK, &signals, nullptr);  // before the other thread, so that it blocks them as well

    const auto plain = listen_on(options.port);
    if (plain.port == 0) return complain(fmt::format("can't listen on port {}", options.port));
    Upstream upstream(options);
    upstream.serve_on(plain, nullptr);
    std::string told = fmt::format("listening 127.0.0.1:{}", plain.port);
    TlsContext tls;
    if (!options.tls_chain.empty()) {
        tls = server_context(options.tls_chain, options.tls_key);
        if (!tls) return complain(fmt::format("can't use {}: {}", options.tls_chain, tls_error()));
        const auto secure = listen_on(0);
        upstream.serve_on(secure, tls.get());
        told += fmt::format(" tls 127.0.0.1:{}", secure.port);
    }
    std::optional<BulkServer> bulk;
    if (options.bulk != 0) {
        const auto raw = listen_on(0);
        bulk.emplace(raw.fd);
        told += fmt::format(" bulk 127.0.0.1:{}", raw.port);
    }
    fmt::print("{}\n", told);
    std::fflush(stdout);
    upstream.run(signals);
    return 0;
}

}  // namespace
}  // namespace opid::bench

int main(int count, char** words) { return opid::bench::serve(count, words); }
