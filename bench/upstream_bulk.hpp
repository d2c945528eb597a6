// The provider's third port: bytes in bulk for what comes through a blind tunnel (bulk.hpp tells the wire format).
// One thread of its own, so that the counts of the HTTP ports stay one thread's.
#pragma once

#include <sys/epoll.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bulk.hpp"

namespace opid::bench {

class BulkServer {
public:
    // Takes a listening, non-blocking socket.
    explicit BulkServer(int listener) : listener_(listener), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
        std::signal(SIGPIPE, SIG_IGN);  // sendfile has no flag against it
        watch(listener_, EPOLLIN, EPOLL_CTL_ADD);
        thread_ = std::thread([this] { run(); });
    }
    ~BulkServer() {
        stopping_ = true;
        thread_.join();
        close(epoll_);
    }
    BulkServer(const BulkServer&) = delete;
    BulkServer& operator=(const BulkServer&) = delete;

private:
    struct Peer {
        std::string head;
        BulkPlan plan;
        BulkEnd end;
        bool moving = false;
        bool judged = false;
    };

    void watch(int fd, std::uint32_t interest, int how) const {
        epoll_event event{};
        event.events = interest;
        event.data.fd = fd;
        epoll_ctl(epoll_, how, fd, &event);
    }

    void run() {
        std::vector<epoll_event> events(256);
        while (!stopping_) {
            const int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 100);
            for (int i = 0; i < ready; ++i) {
                const auto& event = events[static_cast<std::size_t>(i)];
                if (event.data.fd == listener_) {
                    accept_all();
                } else if (!serve(event.data.fd, event.events)) {
                    peers_[static_cast<std::size_t>(event.data.fd)].reset();
                    close(event.data.fd);
                }
            }
        }
    }

    void accept_all() {
        for (;;) {
            const int fd = accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
            if (fd < 0) return;
            const auto slot = static_cast<std::size_t>(fd);
            if (peers_.size() <= slot) peers_.resize(slot + 1);
            peers_[slot] = std::make_unique<Peer>();
            watch(fd, EPOLLIN | EPOLLRDHUP, EPOLL_CTL_ADD);
        }
    }

    // False when the connection is at its end.
    bool serve(int fd, std::uint32_t events) {
        Peer& peer = *peers_[static_cast<std::size_t>(fd)];
        if ((events & (EPOLLERR | EPOLLHUP)) != 0) return false;
        if (!peer.moving) return take_head(fd, peer);
        if ((events & EPOLLRDHUP) != 0 && !peer.end.wants_to_receive()) return false;
        if ((events & EPOLLIN) != 0 && peer.end.wants_to_receive() && !peer.end.receive_some(pattern_, scratch_))
            return false;
        if ((events & EPOLLOUT) != 0 && !peer.end.send_some(pattern_)) return false;
        settle(fd, peer);
        return true;
    }

    bool take_head(int fd, Peer& peer) {
        char bytes[bulk_head_bytes];
        const auto got = recv(fd, bytes, bulk_head_bytes - peer.head.size(), 0);
        if (got < 0) return errno == EAGAIN || errno == EINTR;
        if (got == 0) return false;
        peer.head.append(bytes, static_cast<std::size_t>(got));
        if (peer.head.size() < bulk_head_bytes) return true;
        const auto plan = BulkPlan::parse(peer.head);
        if (!plan) return false;
        peer.plan = *plan;
        peer.end = BulkEnd(fd, plan->down, plan->up, plan->count);
        peer.moving = true;
        settle(fd, peer);
        return true;
    }

    // What is to be waited for next; the verdict on a counted upload, once all of both directions is through.
    void settle(int fd, Peer& peer) {
        const bool sends = peer.end.wants_to_send();
        const bool receives = peer.end.wants_to_receive();
        if (peer.plan.up && peer.plan.count != 0 && !sends && !receives && !peer.judged) {
            peer.judged = true;
            const auto verdict = peer.end.damaged() ? bulk_damaged : bulk_received;
            if (send(fd, verdict.data(), verdict.size(), MSG_NOSIGNAL) < 0) return;
        }
        watch(fd, EPOLLRDHUP | (receives ? EPOLLIN : 0U) | (sends ? EPOLLOUT : 0U), EPOLL_CTL_MOD);
    }

    int listener_;
    int epoll_;
    std::atomic<bool> stopping_{false};
    Pattern pattern_;
    std::vector<char> scratch_ = std::vector<char>(1u << 17);
    std::vector<std::unique_ptr<Peer>> peers_ = std::vector<std::unique_ptr<Peer>>(64);
    std::thread thread_;
};

}  // namespace opid::bench
