#include "surfaces/admin/admin_server.hpp"

#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <exception>
#include <utility>

namespace opid {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using Stream = beast::basic_stream<tcp, Executor>;
using Acceptor = asio::basic_socket_acceptor<tcp, Executor>;
using Parser = beast::http::request_parser<beast::http::string_body>;
using Response = beast::http::response<beast::http::string_body>;

constexpr std::uint32_t head_bytes_max = 16 * 1024;
constexpr Millis accept_pause{100};

constexpr auto quietly = asio::as_tuple(use_task);

struct Count {
    explicit Count(std::size_t& count) : count_(count) { ++count_; }
    ~Count() { --count_; }
    Count(const Count&) = delete;
    Count& operator=(const Count&) = delete;
    std::size_t& count_;
};

std::string text(beast::string_view view) { return std::string(view.data(), view.size()); }

AdminRequest to_admin_request(const Parser::value_type& message) {
    using beast::http::field;
    AdminRequest request;
    request.method = text(message.method_string());
    request.target = text(message.target());
    request.host = message.count(field::host) == 1 ? text(message[field::host]) : std::string();
    request.origin = text(message[field::origin]);
    request.authorization = text(message[field::authorization]);
    request.last_event_id = text(message["Last-Event-ID"]);
    request.body = message.body();
    return request;
}

Response to_response(const AdminReply& reply, unsigned version, bool keep_alive) {
    Response response;
    response.version(version);
    response.result(static_cast<unsigned>(reply.status));
    response.set(beast::http::field::content_type, reply.media_type);
    response.set(beast::http::field::cache_control, "no-store");
    response.set("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : reply.fields) response.set(name, value);
    response.keep_alive(keep_alive);
    return response;
}

std::string event_text(const FeedBatch& batch) {
    std::string out;
    if (batch.missed) out += "event: missed\ndata: {}\n\n";
    for (const FeedEvent& event : batch.events) out += fmt::format("id: {}\ndata: {}\n\n", event.number, event.json);
    if (out.empty()) out = ": \n\n";
    return out;
}

}  // namespace

struct AdminServer::State {
    State(AdminServerOptions given, AdminApi& api_given, EventFeed& events_given, Timers& timers_given)
        : options(std::move(given)),
          api(api_given),
          events(events_given),
          timers(timers_given) {}

    Task<> accept_loop();
    Task<> serve(Stream stream);
    Task<bool> exchange(Stream& stream, beast::flat_buffer& buffer);
    Task<bool> answer(Stream& stream, const Parser::value_type& message);
    Task<> refuse(Stream& stream, AdminReply reply);
    Task<> send_events(Stream& stream, const AdminReply& reply);

    template <class Work>
    void spawn(Work work) {
        asio::co_spawn(context.get_executor(), std::move(work), [](std::exception_ptr error) {
            // Library calls that run out of memory: the connection is gone, the server goes on.
            static_cast<void>(error);
        });
    }

    AdminServerOptions options;
    AdminApi& api;
    EventFeed& events;
    Timers& timers;
    std::size_t connections = 0;
    std::size_t event_clients = 0;
    asio::io_context context{1};  // the last member but one: its frames use the ones above
    Acceptor acceptor{context.get_executor()};
};

Task<> AdminServer::State::accept_loop() {
    for (;;) {
        auto [error, socket] = co_await acceptor.async_accept(quietly);
        if (error == asio::error::operation_aborted) co_return;
        if (error) {
            co_await timers.sleep_for(accept_pause);  // out of descriptors: they come back
            continue;
        }
        if (connections >= options.connections_max) continue;
        spawn(serve(Stream(std::move(socket))));
    }
}

Task<> AdminServer::State::serve(Stream stream) {
    const Count count(connections);
    beast::flat_buffer buffer(head_bytes_max + 4096);
    for (bool go_on = true; go_on;) go_on = co_await exchange(stream, buffer);
    beast::error_code ignored;
    stream.socket().shutdown(tcp::socket::shutdown_both, ignored);
}

// One request and its answer; false: the connection ends.
Task<bool> AdminServer::State::exchange(Stream& stream, beast::flat_buffer& buffer) {
    Parser parser;
    parser.header_limit(head_bytes_max);
    parser.body_limit(options.body_max);
    stream.expires_after(options.request_timeout);
    auto [error, bytes] = co_await beast::http::async_read(stream, buffer, parser, quietly);
    static_cast<void>(bytes);
    if (error == beast::http::error::body_limit || error == beast::http::error::header_limit) {
        AdminReply reply = problem_reply(413, "body-too-large", "The request is too large",
                                         fmt::format("At most {} bytes of body.", options.body_max));
        co_await refuse(stream, std::move(reply));
        co_return false;
    }
    const bool malformed = error &&
                           error.category() == beast::http::make_error_code(beast::http::error::bad_method).category();
    if (malformed && error != beast::http::error::end_of_stream && error != beast::http::error::partial_message) {
        AdminReply reply = problem_reply(400, "bad-request", "The request is malformed", "This is not HTTP/1.1.");
        co_await refuse(stream, std::move(reply));
        co_return false;
    }
    if (error) co_return false;
    const bool go_on = co_await answer(stream, parser.get());
    co_return go_on;
}

Task<bool> AdminServer::State::answer(Stream& stream, const Parser::value_type& message) {
    const AdminRequest request = to_admin_request(message);
    AdminReply reply = co_await api.handle(request);
    if (reply.events_after && request.method == "GET") {
        if (event_clients >= options.event_clients_max) {
            reply = problem_reply(503, "overloaded", "Too many watch events", "Try again later.");
        } else {
            co_await send_events(stream, reply);
            co_return false;
        }
    }
    const bool keep_alive = message.keep_alive();
    Response response = to_response(reply, message.version(), keep_alive);
    response.body() = std::move(reply.body);
    response.prepare_payload();
    if (request.method == "HEAD") response.body().clear();
    stream.expires_after(options.request_timeout);
    auto [error, bytes] = co_await beast::http::async_write(stream, response, quietly);
    static_cast<void>(bytes);
    co_return !error && keep_alive;
}

Task<> AdminServer::State::refuse(Stream& stream, AdminReply reply) {
    Response response = to_response(reply, 11, false);
    response.body() = std::move(reply.body);
    response.prepare_payload();
    stream.expires_after(options.request_timeout);
    co_await beast::http::async_write(stream, response, quietly);
    beast::error_code ignored;
    stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
}

Task<> AdminServer::State::send_events(Stream& stream, const AdminReply& reply) {
    const Count count(event_clients);
    std::uint64_t seen = *reply.events_after;
    std::string out =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"
        "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\nretry: 2000\n\n";
    for (;;) {
        stream.expires_after(options.request_timeout);
        auto [error, bytes] = co_await asio::async_write(stream, asio::buffer(out), quietly);
        static_cast<void>(bytes);
        if (error) co_return;
        const FeedBatch batch = co_await events.next(seen, timers, options.heartbeat);
        if (!batch.events.empty()) seen = batch.events.back().number;
        out = event_text(batch);
    }
}

AdminServer::AdminServer(AdminServerOptions options, AdminApi& api, EventFeed& events, Timers& timers)
    : state_(std::make_unique<State>(std::move(options), api, events, timers)) {}

AdminServer::~AdminServer() { state_->events.forget_waiters(); }

Result<AdminAddress> AdminServer::bind() {
    State& s = *state_;
    boost::system::error_code error;
    const bool v6 = s.options.host.find(':') != std::string::npos;
    const std::string shown = fmt::format("{}{}{}:{}", v6 ? "[" : "", s.options.host, v6 ? "]" : "", s.options.port);
    const auto ip = asio::ip::make_address(s.options.host, error);
    const tcp::endpoint endpoint(ip, s.options.port);
    if (!error) s.acceptor.open(endpoint.protocol(), error);
    if (!error) s.acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) s.acceptor.bind(endpoint, error);
    if (!error) s.acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
        return Error(ErrorKind::unavailable, fmt::format("listen.admin: {} can't be had: {}", shown, error.message()));
    }
    AdminAddress address;
    address.host = s.options.host;
    address.port = s.acceptor.local_endpoint().port();
    s.api.set_address(address);
    return address;
}

void AdminServer::run() {
    state_->spawn(state_->accept_loop());
    state_->context.run();
}

void AdminServer::stop() { state_->context.stop(); }

}  // namespace opid
