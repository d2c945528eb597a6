#pragma once
// A data plane on loopback ports and plain blocking sockets on both sides of it. Every read has a limit in time, so a
// test that would hang fails.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "adapters/http/data_plane.hpp"
#include "adapters/http/upstream_client.hpp"
#include "adapters/system/system_entropy.hpp"
#include "adapters/system/system_timers.hpp"

namespace opid::test {

class Peer {
public:
    Peer() = default;
    explicit Peer(int fd) : fd_(fd) {
        const timeval limit{10, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    }
    Peer(Peer&& other) noexcept : fd_(std::exchange(other.fd_, -1)), rest_(std::move(other.rest_)) {}
    Peer& operator=(Peer&& other) noexcept {
        std::swap(fd_, other.fd_);
        std::swap(rest_, other.rest_);
        return *this;
    }
    ~Peer() { close(); }

    static Peer connect(std::uint16_t port) {
        const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(port);
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        REQUIRE(::connect(fd, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
        return Peer(fd);
    }

    void send(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            REQUIRE(sent > 0);
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
    }
    // Up to and with `mark`. Fails where the peer ends before that.
    std::string read_until(std::string_view mark) {
        for (;;) {
            const std::size_t at = rest_.find(mark);
            if (at != std::string::npos) return take(at + mark.size());
            const bool more = read_some();
            if (!more) FAIL("ended after: " << rest_);
        }
    }
    std::string read_head() { return read_until("\r\n\r\n"); }
    std::string read_exactly(std::size_t count) {
        while (rest_.size() < count) {
            const bool more = read_some();
            if (!more) FAIL("ended after: " << rest_);
        }
        return take(count);
    }
    std::string read_to_end() {
        while (read_some()) {}
        return take(rest_.size());
    }
    bool silent() const {  // nothing to read now
        pollfd state{fd_, POLLIN, 0};
        return rest_.empty() && ::poll(&state, 1, 0) == 0;
    }
    void finish() { ::shutdown(fd_, SHUT_WR); }
    void reset() {
        const struct ::linger now { 1, 0 };
        ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        close();
    }
    void close() {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }
    bool was_reset() const { return reset_; }

private:
    bool read_some() {
        char bytes[16384];
        const auto got = ::recv(fd_, bytes, sizeof bytes, 0);
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) FAIL("nothing came in time; so far: " << rest_);
        reset_ = got < 0;
        if (got <= 0) return false;
        rest_.append(bytes, static_cast<std::size_t>(got));
        return true;
    }
    std::string take(std::size_t count) {
        std::string taken = rest_.substr(0, count);
        rest_.erase(0, count);
        return taken;
    }
    int fd_ = -1;
    std::string rest_;
    bool reset_ = false;
};

class Server {
public:
    Server() {
        fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
        const timeval limit{10, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        REQUIRE(::bind(fd_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
        REQUIRE(::listen(fd_, 64) == 0);
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
        port = ntohs(at.sin_port);
    }
    ~Server() { stop(); }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    Peer accept() {
        const int fd = ::accept(fd_, nullptr, nullptr);
        REQUIRE(fd >= 0);
        return Peer(fd);
    }
    bool nobody_waits() const {
        pollfd state{fd_, POLLIN, 0};
        return ::poll(&state, 1, 0) == 0;
    }
    void stop() {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }
    std::string authority() const { return "127.0.0.1:" + std::to_string(port); }
    std::uint16_t port = 0;

private:
    int fd_ = -1;
};

// Keeps steps; everything else is beyond what the data plane asks of a store.
class StepStore final : public OperationStore {
public:
    Task<Result<std::string>> allocate_step(std::string tenant, std::string step, std::string proposed_id) override {
        const std::lock_guard lock(mutex_);
        const auto [at, added] = steps_.emplace(tenant + "|" + step, proposed_id);
        co_return at->second;
    }
    Task<Result<Loaded>> load(OperationKey) override { co_return Error(ErrorKind::internal, "unused"); }
    void begin_commit(const Commit&, Executor, std::shared_ptr<CommitListener>) override {}
    Task<Status> remember(std::string) override { co_return Error(ErrorKind::internal, "unused"); }
    Task<Result<std::vector<std::string>>> remembered() override { co_return Error(ErrorKind::internal, "unused"); }
    Task<Result<std::string>> load_body(OperationKey, BodyPart) override {
        co_return Error(ErrorKind::internal, "unused");
    }
    Task<Result<std::vector<HistoryEvent>>> load_history(OperationKey) override {
        co_return Error(ErrorKind::internal, "unused");
    }
    Task<Result<ListPage>> list(ListQuery) override { co_return Error(ErrorKind::internal, "unused"); }
    Task<Result<std::vector<Operation>>> due(Instant, DuePlace, std::size_t) override {
        co_return Error(ErrorKind::internal, "unused");
    }
    Task<Result<std::vector<Operation>>> in_progress() override { co_return Error(ErrorKind::internal, "unused"); }
    Task<Result<SweepResult>> sweep(Instant, Instant, Instant) override {
        co_return Error(ErrorKind::internal, "unused");
    }
    StoreHealth health() const override { return {}; }

private:
    std::mutex mutex_;
    std::map<std::string, std::string> steps_;
};

class SilentObserver final : public Observer {
public:
    void moved(const Operation&, const HistoryEvent&) noexcept override {}
    void answered(std::string_view, std::string_view) noexcept override {}
    void trouble(std::string_view, std::string_view) noexcept override {}
};

// One opid data plane with one thread, which may connect to loopback addresses.
class Plane {
public:
    explicit Plane(std::vector<ProfilePtr> profiles = {}, GuardedHandler guarded = {}, DataPlaneOptions wanted = {},
                   std::vector<std::string> allow = {"127.0.0.0/8"})
        : board(std::make_shared<const ProfileSet>(std::move(profiles))) {
        OutboundOptions outgoing;
        outgoing.egress.allow = std::move(allow);
        Result<std::unique_ptr<Outbound>> made = Outbound::make(outgoing);
        REQUIRE(made);
        outbound = std::move(*made);
        upstream = std::make_unique<UpstreamClient>(*outbound, http::HeadLimits{});
        if (!guarded) guarded = [](GuardedWrite, ResponseSink*) -> Task<GuardedAnswer> { co_return GuardedAnswer{}; };
        wanted.threads = 1;
        wanted.proxy = *parse_address_and_port("127.0.0.1:1");
        wanted.proxy.port = 0;
        wanted.timeouts.linger = Millis{100};
        DataPlaneParts parts{*outbound, board, std::move(guarded), store, timers, entropy, observer};
        plane = std::make_unique<DataPlane>(std::move(wanted), std::move(parts));
        const Result<BoundAddresses> bound = plane->start();
        REQUIRE(bound);
        port = bound->proxy.port;
    }
    Peer client() const { return Peer::connect(port); }
    const DataPlaneMetrics& metrics() const { return *plane->metrics().front(); }

    ProfileBoard board;
    StepStore store;
    SystemTimers timers;
    SystemEntropy entropy;
    SilentObserver observer;
    std::unique_ptr<Outbound> outbound;
    std::unique_ptr<UpstreamClient> upstream;
    std::unique_ptr<DataPlane> plane;
    std::uint16_t port = 0;
};

// A head without the lines that only say who relayed it.
inline std::string without_via(std::string head) {
    for (const std::string_view line : {"Via: 1.1 opid\r\n", "Via: 1.0 opid\r\n"}) {
        for (std::size_t at = head.find(line); at != std::string::npos; at = head.find(line))
            head.erase(at, line.size());
    }
    return head;
}

}  // namespace opid::test
