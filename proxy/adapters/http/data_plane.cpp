#include "adapters/http/data_plane.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <mutex>
#include <thread>

#include "adapters/http/local_answer.hpp"
#include "adapters/http/proxy_connection.hpp"
#include "adapters/system/steady_clock.hpp"

namespace opid {

namespace asio = boost::asio;
using boost::system::error_code;
using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, Executor>;

namespace {

constexpr Millis out_of_files_pause{100};
constexpr std::chrono::milliseconds drain_look{10};

Stream::Endpoint to_endpoint(const AddressAndPort& at) {
    if (!at.ip.is_v4()) return {asio::ip::address_v6(at.ip.bytes()), at.port};
    asio::ip::address_v4::bytes_type bytes{};
    std::copy_n(at.ip.bytes().begin(), bytes.size(), bytes.begin());
    return {asio::ip::address_v4(bytes), at.port};
}

bool out_of_files(const error_code& error) {
    return error == asio::error::no_descriptors || error == boost::system::errc::too_many_files_open_in_system ||
           error == asio::error::no_buffer_space || error == asio::error::no_memory;
}

void refuse_connection(IoShard& shard, Stream::Socket socket) {
    shard.metrics.connections_refused.add();
    shard.count(ProblemKind::overloaded);
    const Problem problem = make_problem(ProblemKind::overloaded, "Too many connections. Nothing was sent.");
    AnswerFraming framing;
    framing.close = true;
    framing.date = shard.date();
    std::string out;
    write_answer(render(problem, ProblemDialect::problem, {}), framing, out);
    Stream stream(std::move(socket));
    stream.write_now(out);
    stream.shut_down_write();
}

// One place to listen on, and its acceptor on each thread.
struct Listener {
    Listening listening;
    AddressAndPort at;
};

struct IoThread {
    explicit IoThread(SharedPlane& shared)
        : shard(shared),
          work(shard.context.get_executor()),
          tasks(shard.context.get_executor()) {}
    IoShard shard;
    asio::executor_work_guard<Executor> work;
    std::deque<Acceptor> acceptors;
    TaskGroup tasks;
    std::thread thread;
};

Task<> accept_all(IoThread& thread, Acceptor& acceptor, const Listening& listening) {
    IoShard& shard = thread.shard;
    SharedPlane& shared = shard.shared;
    while (acceptor.is_open()) {
        Stream::Socket socket(shard.context.get_executor());
        Stream::Endpoint peer;
        auto accepting = acceptor.async_accept(socket, peer, asio::as_tuple(use_task));
        const auto [error] = co_await std::move(accepting);
        if (error) {
            if (out_of_files(error)) {
                shared.parts.observer.trouble("listener", "out of file descriptors: accepting pauses");
                co_await coarse_sleep(shard.deadlines, out_of_files_pause);
            }
            continue;
        }
        shard.metrics.connections_accepted.add();
        if (shared.connections.fetch_add(1, std::memory_order_relaxed) >= shared.options.limits.connections) {
            shared.connections.fetch_sub(1, std::memory_order_relaxed);
            refuse_connection(shard, std::move(socket));
            continue;
        }
        thread.tasks.start(run_connection(shard, std::move(socket), peer, listening));
    }
}

error_code open_acceptor(Acceptor& acceptor, const Stream::Endpoint& at, bool shared_port) {
    error_code error;
    acceptor.open(at.protocol(), error);
    if (error) return error;
    acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (error) return error;
    const int yes = 1;
    if (shared_port && ::setsockopt(acceptor.native_handle(), SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes) != 0) {
        return {errno, boost::system::system_category()};
    }
    acceptor.bind(at, error);
    if (error) return error;
    acceptor.listen(asio::socket_base::max_listen_connections, error);
    return error;
}

}  // namespace

struct DataPlane::State {
    State(DataPlaneOptions options, DataPlaneParts parts) : shared(std::move(options), std::move(parts)) {
        const std::size_t wanted = shared.options.threads;
        const std::size_t count = wanted != 0 ? wanted : std::max(1u, std::thread::hardware_concurrency());
        for (std::size_t i = 0; i < count; ++i) {
            threads.push_back(std::make_unique<IoThread>(shared));
            threads.back()->shard.pool.keep_per_origin((shared.options.limits.upstream_idle + count - 1) / count);
        }
    }

    Status bind(Listener& listener);

    SharedPlane shared;
    std::deque<Listener> listeners;
    std::vector<std::unique_ptr<IoThread>> threads;
    bool running = false;
};

// With a port per thread that all share, the kernel would let a second opid share it too: asked for alone first.
Status DataPlane::State::bind(Listener& listener) {
    const bool shared_port = threads.size() > 1;
    const auto text = [&listener] { return listener.at.ip.to_string() + " port " + std::to_string(listener.at.port); };
    if (shared_port && listener.at.port != 0) {
        Acceptor probe(threads.front()->shard.context.get_executor());
        const error_code error = open_acceptor(probe, to_endpoint(listener.at), false);
        if (error) return Error(ErrorKind::unavailable, "can't listen on " + text() + ": " + error.message());
    }
    for (const auto& thread : threads) {
        Acceptor& acceptor = thread->acceptors.emplace_back(thread->shard.context.get_executor());
        const error_code error = open_acceptor(acceptor, to_endpoint(listener.at), shared_port);
        if (error) return Error(ErrorKind::unavailable, "can't listen on " + text() + ": " + error.message());
        if (listener.at.port == 0) {
            error_code ignored;
            listener.at.port = acceptor.local_endpoint(ignored).port();
        }
    }
    shared.parts.outbound.own_endpoints().add(listener.at, OwnEndpoint::proxy);
    return ok();
}

DataPlane::DataPlane(DataPlaneOptions options, DataPlaneParts parts)
    : state_(std::make_unique<State>(std::move(options), std::move(parts))) {}

DataPlane::~DataPlane() { stop(); }

Result<BoundAddresses> DataPlane::start() {
    State& state = *state_;
    const DataPlaneOptions& options = state.shared.options;
    if (!options.spool_directory.empty()) {
        std::error_code error;
        std::filesystem::create_directories(options.spool_directory, error);
        if (error) return Error(ErrorKind::unavailable, "spool " + options.spool_directory + ": " + error.message());
    }
    state.listeners.push_back(Listener{Listening{}, options.proxy});
    for (const auto& [provider, at] : options.providers) state.listeners.push_back(Listener{Listening{provider}, at});
    BoundAddresses bound;
    for (Listener& listener : state.listeners) {
        const Status status = state.bind(listener);
        if (!status) return status.error();
        if (listener.listening.provider.empty()) {
            bound.proxy = listener.at;
        } else {
            bound.providers.emplace_back(listener.listening.provider, listener.at);
        }
    }
    for (const auto& thread : state.threads) {
        for (std::size_t i = 0; i < state.listeners.size(); ++i) {
            thread->tasks.start(accept_all(*thread, thread->acceptors[i], state.listeners[i].listening));
        }
        thread->thread = std::thread([io = thread.get()] { io->shard.context.run(); });
    }
    state.running = true;
    return bound;
}

bool DataPlane::drain(Millis patience) {
    State& state = *state_;
    if (!state.running) return true;
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t told = 0;
    state.shared.draining.store(true);
    for (const auto& thread : state.threads) {
        asio::post(thread->shard.context, [&mutex, &changed, &told, io = thread.get()] {
            error_code ignored;
            for (Acceptor& acceptor : io->acceptors) acceptor.close(ignored);
            io->shard.drain_members();
            const std::lock_guard lock(mutex);
            ++told;
            changed.notify_one();
        });
    }
    const auto until = steady_now() + patience;
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return told == state.threads.size(); });
    while (state.shared.exchanges.load() > 0 && steady_now() < until) {
        changed.wait_for(lock, drain_look);
    }
    return state.shared.exchanges.load() == 0;
}

void DataPlane::stop() {
    State& state = *state_;
    for (const auto& thread : state.threads) thread->shard.context.stop();
    for (const auto& thread : state.threads) {
        if (thread->thread.joinable()) thread->thread.join();
    }
    state.running = false;
}

std::vector<const DataPlaneMetrics*> DataPlane::metrics() const {
    std::vector<const DataPlaneMetrics*> all;
    for (const auto& thread : state_->threads) all.push_back(&thread->shard.metrics);
    return all;
}

std::size_t DataPlane::threads() const { return state_->threads.size(); }

asio::io_context& DataPlane::context(std::size_t thread) { return state_->threads[thread]->shard.context; }

}  // namespace opid
