#include "adapters/net/resolver.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "adapters/system/deadlines.hpp"
#include "adapters/system/signal.hpp"

namespace opid {

namespace {

using Clock = std::chrono::steady_clock;

bool is_localhost(std::string_view host) { return host == "localhost" || host.ends_with(".localhost"); }

Result<Resolver::Addresses> ask_the_system(const std::string& host) {
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    const int outcome = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
    if (outcome == EAI_NONAME || outcome == EAI_NODATA) return Error(ErrorKind::not_found, "no such name");
    if (outcome != 0) return Error(ErrorKind::unavailable, "the name service failed");
    Resolver::Addresses found;
    for (const addrinfo* at = list; at != nullptr; at = at->ai_next) {
        http::IpAddress address;
        if (at->ai_family == AF_INET) {
            http::IpAddress::V4 bytes{};
            std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in*>(at->ai_addr)->sin_addr, bytes.size());
            address = http::IpAddress(bytes);
        } else if (at->ai_family == AF_INET6) {
            http::IpAddress::V6 bytes{};
            std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6*>(at->ai_addr)->sin6_addr, bytes.size());
            address = http::IpAddress(bytes);
        } else {
            continue;
        }
        if (std::find(found.begin(), found.end(), address) == found.end() && found.size() < 16)
            found.push_back(address);
    }
    ::freeaddrinfo(list);
    if (found.empty()) return Error(ErrorKind::not_found, "the name has no address");
    return found;
}

// Somebody who waits for a name. Its result is written under the state's mutex; the signal is used on its own
// thread alone.
struct Waiter {
    explicit Waiter(const Executor& on) : executor(on), signal(on) {}
    Executor executor;
    Signal signal;
    Result<Resolver::Addresses> result{Error(ErrorKind::timeout, "the name service did not answer in time")};
    bool left = false;
};

struct Known {
    Result<Resolver::Addresses> result;
    Clock::time_point until;
};

}  // namespace

struct Resolver::State {
    ResolverOptions options;
    LookUp look_up = nullptr;
    std::mutex mutex;
    std::condition_variable work;
    std::deque<std::string> queue;
    std::unordered_map<std::string, std::vector<std::shared_ptr<Waiter>>> asked;
    std::unordered_map<std::string, Known> known;
    std::vector<std::thread> threads;
    bool stopping = false;

    void run();
    void settle(const std::string& host, const Result<Addresses>& result);
    void remember(const std::string& host, const Result<Addresses>& result);
};

void Resolver::State::run() {
    std::unique_lock lock(mutex);
    for (;;) {
        work.wait(lock, [this] { return stopping || !queue.empty(); });
        if (stopping) return;
        const std::string host = std::move(queue.front());
        queue.pop_front();
        lock.unlock();
        const Result<Addresses> result = look_up(host);
        lock.lock();
        remember(host, result);
        settle(host, result);
    }
}

void Resolver::State::remember(const std::string& host, const Result<Addresses>& result) {
    const auto now = Clock::now();
    if (known.size() >= options.names_kept) {
        std::erase_if(known, [now](const auto& entry) { return entry.second.until <= now; });
        if (known.size() >= options.names_kept) known.clear();
    }
    known.insert_or_assign(host, Known{result, now + (result ? options.keep : options.keep_failure)});
}

// The mutex is held: a waiter that has left is never posted to, since its io_context may be gone.
void Resolver::State::settle(const std::string& host, const Result<Addresses>& result) {
    const auto found = asked.find(host);
    if (found == asked.end()) return;
    for (const auto& waiter : found->second) {
        if (waiter->left) continue;
        waiter->result = result;
        boost::asio::post(waiter->executor, [waiter] { waiter->signal.set(); });
    }
    asked.erase(found);
}

Resolver::Resolver(ResolverOptions options, LookUp look_up) : state_(std::make_shared<State>()) {
    state_->options = options;
    state_->look_up = look_up != nullptr ? look_up : ask_the_system;
    for (std::size_t i = 0; i < options.threads; ++i)
        state_->threads.emplace_back([state = state_.get()] { state->run(); });
}

Resolver::~Resolver() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopping = true;
    }
    state_->work.notify_all();
    for (auto& thread : state_->threads) thread.join();
}

namespace {

// Tells the state that nobody waits any more, however the waiting coroutine ends.
class Leave {
public:
    Leave(std::mutex& mutex, std::shared_ptr<Waiter> waiter) : mutex_(mutex), waiter_(std::move(waiter)) {}
    Leave(const Leave&) = delete;
    Leave& operator=(const Leave&) = delete;
    ~Leave() {
        const std::lock_guard lock(mutex_);
        waiter_->left = true;
    }

private:
    std::mutex& mutex_;
    std::shared_ptr<Waiter> waiter_;
};

}  // namespace

Task<Result<Resolver::Addresses>> Resolver::resolve(std::string host, Millis budget) {
    if (is_localhost(host)) {
        Addresses loopback{*http::parse_ip("127.0.0.1"), *http::parse_ip("::1")};
        co_return std::move(loopback);
    }
    const Executor executor = co_await boost::asio::this_coro::executor;
    std::shared_ptr<Waiter> waiter;
    {
        const std::lock_guard lock(state_->mutex);
        const auto known = state_->known.find(host);
        if (known != state_->known.end() && known->second.until > Clock::now()) co_return known->second.result;
        const auto asked = state_->asked.find(host);
        if (asked == state_->asked.end() && state_->asked.size() >= state_->options.names_asked) {
            co_return Error(ErrorKind::overloaded, "too many names are being looked up");
        }
        waiter = std::make_shared<Waiter>(executor);
        state_->asked[host].push_back(waiter);
        if (asked == state_->asked.end()) {
            state_->queue.push_back(host);
            state_->work.notify_one();
        }
    }
    const Leave leave(state_->mutex, waiter);
    Deadline deadline;
    Deadlines& deadlines = deadlines_of(static_cast<boost::asio::io_context&>(executor.context()));
    deadlines.arm(
        deadline, budget, [](void* signal) noexcept { static_cast<Signal*>(signal)->set(); }, &waiter->signal);
    co_await waiter->signal.wait();
    const std::lock_guard lock(state_->mutex);
    co_return waiter->result;
}

}  // namespace opid
