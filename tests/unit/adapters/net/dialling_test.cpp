// Resolver, dialler and pool against sockets of the test's own.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>

#include "adapters/net/connection_pool.hpp"
#include "adapters/net/outbound.hpp"

namespace opid {

namespace {

class Listener {
public:
    Listener() {
        fd_ = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        REQUIRE(::bind(fd_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
        REQUIRE(::listen(fd_, 16) == 0);
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
        port = ntohs(at.sin_port);
    }
    ~Listener() { ::close(fd_); }
    int accept() const { return ::accept(fd_, nullptr, nullptr); }
    std::uint16_t port = 0;

private:
    int fd_ = -1;
};

template <class T>
T run(boost::asio::io_context& context, Task<T> task) {
    std::optional<T> result;
    boost::asio::co_spawn(context, std::move(task), [&result](const std::exception_ptr& error, T value) {
        REQUIRE_FALSE(error);
        result.emplace(std::move(value));
    });
    context.restart();
    while (!result) context.run_one();
    return std::move(*result);
}

std::unique_ptr<Outbound> outbound_of(std::vector<std::string> allow) {
    OutboundOptions options;
    options.egress.allow = std::move(allow);
    options.timeouts = {Millis{1000}, Millis{1000}, Millis{200}};
    Result<std::unique_ptr<Outbound>> made = Outbound::make(options);
    REQUIRE(made);
    return std::move(*made);
}

Origin origin_of(const std::string& authority, bool tls = false, ProfilePtr profile = nullptr) {
    auto origin = Origin::make(tls, authority, std::move(profile));
    REQUIRE(origin);
    return *origin;
}

// A name service in the test's hands: "slow.example" is held until let go.
struct Names {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false;
    std::atomic<int> asked{0};
};
Names* names = nullptr;

Result<Resolver::Addresses> look_up(const std::string& host) {
    ++names->asked;
    if (host == "slow.example") {
        std::unique_lock lock(names->mutex);
        names->changed.wait(lock, [] { return names->open; });
    }
    if (host == "none.example") return Error(ErrorKind::not_found, "no such name");
    return Resolver::Addresses{*http::parse_ip("192.0.2.1")};
}

}  // namespace

TEST_CASE("one slow name holds up neither other names nor its own waiters' budgets") {
    Names mine;
    names = &mine;
    boost::asio::io_context context(1);
    Resolver resolver({.threads = 2}, look_up);
    const auto slow = run(context, resolver.resolve("slow.example", Millis{60}));
    REQUIRE_FALSE(slow);
    CHECK(slow.error().kind() == ErrorKind::timeout);
    const auto quick = run(context, resolver.resolve("quick.example", Millis{5000}));
    REQUIRE(quick);
    CHECK(quick->front().to_string() == "192.0.2.1");
    {
        const std::lock_guard lock(mine.mutex);
        mine.open = true;
    }
    mine.changed.notify_all();
}

TEST_CASE("localhost is this machine, and nobody is asked for it") {
    Names mine;
    names = &mine;
    boost::asio::io_context context(1);
    Resolver resolver({.threads = 1}, look_up);
    for (const std::string name : {"localhost", "api.localhost"}) {
        const auto found = run(context, resolver.resolve(name, Millis{5000}));
        REQUIRE(found);
        REQUIRE(found->size() == 2);
        CHECK(found->front().to_string() == "127.0.0.1");
        CHECK(found->back().to_string() == "::1");
    }
    CHECK(mine.asked == 0);
}

TEST_CASE("answers and failures are kept for a while, and questions are bounded") {
    Names mine;
    names = &mine;
    boost::asio::io_context context(1);
    {
        Resolver resolver({.threads = 1, .names_asked = 1}, look_up);
        CHECK(run(context, resolver.resolve("a.example", Millis{5000})));
        CHECK(run(context, resolver.resolve("a.example", Millis{5000})));
        CHECK(run(context, resolver.resolve("none.example", Millis{5000})).error().kind() == ErrorKind::not_found);
        CHECK(run(context, resolver.resolve("none.example", Millis{5000})).error().kind() == ErrorKind::not_found);
        CHECK(mine.asked == 2);
        CHECK(run(context, resolver.resolve("slow.example", Millis{20})).error().kind() == ErrorKind::timeout);
        CHECK(run(context, resolver.resolve("b.example", Millis{20})).error().kind() == ErrorKind::overloaded);
        const std::lock_guard lock(mine.mutex);
        mine.open = true;
        mine.changed.notify_all();
    }
}

TEST_CASE("the dialler tells how far it came and why it stopped") {
    boost::asio::io_context context(1);
    const auto allowed = outbound_of({"127.0.0.0/8"});
    const auto strict = outbound_of({});
    using Cause = DialFailure::Cause;

    Listener listener;
    const std::string place = "127.0.0.1:" + std::to_string(listener.port);
    const Origin good = origin_of(place);
    Dialled dialled = run(context, allowed->dialler().dial(good));
    CHECK_FALSE(dialled.failure);
    CHECK(dialled.stream.is_open());

    dialled = run(context, strict->dialler().dial(good));
    REQUIRE(dialled.failure);
    CHECK(dialled.failure->cause == Cause::refused_by_policy);
    CHECK(dialled.failure->stage == Stage::none);

    std::uint16_t closed_port = 0;
    {
        const Listener gone;
        closed_port = gone.port;
    }
    const Origin refused = origin_of("127.0.0.1:" + std::to_string(closed_port));
    dialled = run(context, allowed->dialler().dial(refused));
    REQUIRE(dialled.failure);
    CHECK(dialled.failure->cause == Cause::connect);
    CHECK(dialled.failure->words == "connect refused");
    CHECK(dialled.failure->stage == Stage::resolved);

    allowed->own_endpoints().add(*parse_address_and_port(place), OwnEndpoint::proxy);
    dialled = run(context, allowed->dialler().dial(good));
    REQUIRE(dialled.failure);
    CHECK(dialled.failure->cause == Cause::own_listener);
}

TEST_CASE("a profile's own address is dialled whatever egress says, and TLS has a budget of its own") {
    boost::asio::io_context context(1);
    const auto strict = outbound_of({});
    Listener silent;
    auto profile = std::make_shared<Profile>();
    profile->provider = "p";
    profile->upstream_address = "127.0.0.1:" + std::to_string(silent.port);
    const Origin origin = origin_of("api.example.com", true, profile);
    const Dialled dialled = run(context, strict->dialler().dial(origin));
    REQUIRE(dialled.failure);
    CHECK(dialled.failure->cause == DialFailure::Cause::tls_timeout);
    CHECK(dialled.failure->stage == Stage::connected);
}

TEST_CASE("the pool gives back only connections that are silent, young and of this generation") {
    boost::asio::io_context context(1);
    const auto outbound = outbound_of({"127.0.0.0/8"});
    Listener listener;
    const Origin origin = origin_of("127.0.0.1:" + std::to_string(listener.port));
    ConnectionPool& pool = pool_of(context);
    const auto fresh = [&] {
        Dialled dialled = run(context, outbound->dialler().dial(origin));
        REQUIRE_FALSE(dialled.failure);
        return std::move(dialled.stream);
    };

    pool.give(origin, fresh(), 1);
    const int first = listener.accept();
    CHECK(pool.size() == 1);
    auto taken = pool.take(origin, 1);
    REQUIRE(taken);
    CHECK(pool.size() == 0);

    pool.give(origin, std::move(*taken), 1);
    CHECK_FALSE(pool.take(origin, 2));  // the profiles were reloaded since

    pool.give(origin, fresh(), 1);
    const int second = listener.accept();
    ::close(second);
    char wait = 0;
    pool.give(origin, fresh(), 1);
    const int third = listener.accept();
    CHECK(::send(third, "x", 1, MSG_NOSIGNAL) == 1);
    // Loopback delivers at once: the closed one is at its end, the other one has a byte that nobody asked for.
    CHECK_FALSE(pool.take(origin, 1));
    CHECK(pool.size() == 0);
    CHECK(::recv(first, &wait, 1, 0) == 0);  // what is not reused is closed
    ::close(first);
    ::close(third);

    pool.give(origin, fresh(), 1, Millis{0});
    CHECK(pool.size() == 0);
}

TEST_CASE("a read waits for bytes, takes what there is and tells an end from a reset and a deadline") {
    Listener listener;
    auto outbound = outbound_of({"127.0.0.0/8"});
    boost::asio::io_context context(1);
    Dialled dialled = run(context, outbound->dialler().dial(origin_of("127.0.0.1:" + std::to_string(listener.port))));
    REQUIRE_FALSE(dialled.failure);
    Stream stream = std::move(dialled.stream);
    const int peer = listener.accept();
    std::array<char, 8> into{};
    const auto read = [&] { return run(context, stream.read(into.data(), into.size())); };

    boost::asio::post(context, [peer] { CHECK(::send(peer, "0123456789", 10, MSG_NOSIGNAL) == 10); });
    Io io = read();
    CHECK((io.state == Io::State::done && io.bytes == 8));
    io = read();  // what was left over
    CHECK((io.state == Io::State::done && io.bytes == 2));
    CHECK(std::string_view(into.data(), 2) == "89");

    StreamDeadline deadline;
    deadline.arm(deadlines_of(context), stream, Millis{1});
    io = read();
    CHECK((io.state == Io::State::failed && io.error == boost::asio::error::operation_aborted));
    CHECK(deadline.expired());
    CHECK(stream.is_open());

    CHECK(::send(peer, "x", 1, MSG_NOSIGNAL) == 1);  // goes on where it was
    io = read();
    CHECK((io.state == Io::State::done && into[0] == 'x'));

    SECTION("an end in order") {
        ::close(peer);
        CHECK(read().state == Io::State::end);
        stream.close();
        CHECK(read().state == Io::State::failed);
    }
    SECTION("a reset") {
        const linger at_once{1, 0};
        ::setsockopt(peer, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        ::close(peer);
        io = read();
        CHECK((io.state == Io::State::failed && io.error == boost::asio::error::connection_reset));
    }
}

TEST_CASE("another version of a profile shares no connection with the one before it") {
    const auto version = [](const std::string& digest) {
        auto profile = std::make_shared<Profile>();
        profile->provider = "p";
        profile->digest = digest;
        return origin_of("api.example.com", true, profile).pool_key;
    };
    CHECK(version("a") == version("a"));
    CHECK(version("a") != version("b"));
    CHECK(version("a") != origin_of("api.example.com", true).pool_key);
}

TEST_CASE("authorities become origins with one key a place") {
    CHECK(origin_of("EXAMPLE.com.").pool_key == origin_of("example.com:80").pool_key);
    CHECK(origin_of("example.com", true).pool_key != origin_of("example.com:443").pool_key);
    CHECK(origin_of("[2001:db8::1]:8443", true).authority_text() == "[2001:db8::1]:8443");
    CHECK(origin_of("example.com:443", true).authority_text() == "example.com");
    CHECK_FALSE(Origin::make(true, "user@example.com", nullptr));
}

}  // namespace opid
