// One thread of the load: its connections and its epoll loop. Closed loop: each connection sends, waits for the whole
// answer, checks it, sends the next; one write and one read a request, so that the generator takes little of the
// machine it measures. Before its first request a connection asks for a tunnel and shakes hands where the options say
// so.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "http_wire.hpp"
#include "load_plan.hpp"
#include "load_tally.hpp"
#include "wire.hpp"

struct epoll_event;

namespace opid::bench {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;

struct Window {  // shared by the threads
    Time measure_from;
    Time stop_at;
    std::atomic<std::uint64_t> issued{0};
};

// A connected socket that does not block, or -1. `target` is an IPv4 address and a port.
int dial(const std::string& target);

class Loop {
public:
    // tls: null without. All references outlive the loop.
    Loop(const LoadOptions& options, Window& window, SSL_CTX* tls, unsigned connections, unsigned number);
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    // Opens all connections, tunnels and handshakes included; not with options.fresh, where they are the load.
    bool connect_all();
    void run();
    const Tally& tally() const { return tally_; }

private:
    enum class Stage { tunnel, handshake, ready };
    struct Connection {
        Wire wire;
        Stage stage = Stage::ready;
        std::uint64_t id = 0;
        Time sent_at;
        Time greeted_at;
        std::string unsent;
        std::string pending;  // an incomplete head
        BodySkipper body;
        bool in_body = false;
        bool busy = false;
        bool unasked = false;  // busy, but the request waits for the connection to be ready
        bool close_after = false;
        bool replayed = false;
        unsigned status = 0;
    };

    // Sends the CONNECT, if any. A handshake begins with the first shake(), so nothing can fail behind open's back.
    bool open(std::size_t at, std::uint64_t id);
    bool wait_until_ready(std::size_t at);
    void watch(std::size_t at, std::uint32_t interest, int how) const;
    void advance(std::size_t at);
    void take_tunnel(std::size_t at);
    void start_handshake(std::size_t at);
    void shake(std::size_t at);
    void ready(std::size_t at);

    void start_all();
    bool take_turn(std::uint64_t& turn);
    std::uint64_t id_of(std::uint64_t turn);
    void send_next(std::size_t at);
    void next_round();
    void send_request(std::size_t at, std::uint64_t id);
    void write_out(std::size_t at, std::string_view bytes);

    void dispatch(const epoll_event& event);
    bool read_some(std::size_t at);
    void consume(std::size_t at, std::string_view data);
    void take_head(Connection& connection, std::string_view head);
    void finish(std::size_t at);
    bool in_window() const;
    void lost(std::size_t at, std::string_view why);
    bool reopen(std::size_t at);
    void fail(std::string sample, std::uint64_t count);

    const LoadOptions& options_;
    Window& window_;
    SSL_CTX* tls_;
    LoadTexts texts_;
    Expectation expectation_;
    std::uint64_t random_;
    int epoll_;
    std::vector<TlsSession> sessions_;  // of each connection, with options.resume
    std::vector<Connection> connections_;
    std::vector<char> scratch_ = std::vector<char>(1u << 17);
    std::size_t busy_ = 0;
    std::uint64_t unmarked_in_round_ = 0;
    unsigned connect_failures_ = 0;
    bool stopped_ = false;
    Time now_;
    Tally tally_;
};

}  // namespace opid::bench
