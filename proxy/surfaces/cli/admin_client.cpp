#include "surfaces/cli/admin_client.hpp"

#include <fmt/format.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>

namespace opid {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr std::chrono::seconds call_timeout{60};
constexpr std::uint64_t answer_bytes_max = 256ull << 20;

// Each step is run to its end, so that the stream's own deadline holds for it.
class Conversation {
public:
    explicit Conversation(const std::string& address) : address_(address) {}

    beast::error_code connect() {
        const auto colon = address_.rfind(':');
        if (colon == std::string::npos) return asio::error::invalid_argument;
        std::string host = address_.substr(0, colon);
        if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
        beast::error_code error;
        tcp::resolver resolver(context_);
        const auto endpoints = resolver.resolve(host, address_.substr(colon + 1), error);
        if (error) return error;
        stream_.expires_after(std::chrono::seconds{5});
        stream_.async_connect(endpoints, [&error](beast::error_code result, const tcp::endpoint&) { error = result; });
        run();
        return error;
    }

    beast::error_code send(const http::request<http::string_body>& request) {
        beast::error_code error;
        stream_.expires_after(call_timeout);
        http::async_write(stream_, request, [&error](beast::error_code result, std::size_t) { error = result; });
        run();
        return error;
    }

    template <class Parser>
    beast::error_code read(Parser& parser, bool head_only, bool patient) {
        beast::error_code error;
        if (patient) {
            stream_.expires_never();
        } else {
            stream_.expires_after(call_timeout);
        }
        const auto done = [&error](beast::error_code result, std::size_t) { error = result; };
        if (head_only) {
            http::async_read_header(stream_, buffer_, parser, done);
        } else {
            http::async_read(stream_, buffer_, parser, done);
        }
        run();
        return error;
    }

    // More bytes of a stream without end.
    beast::error_code read_some(std::string& out) {
        char bytes[4096];
        std::size_t count = 0;
        beast::error_code error;
        stream_.expires_never();
        stream_.async_read_some(asio::buffer(bytes), [&error, &count](beast::error_code result, std::size_t length) {
            error = result;
            count = length;
        });
        run();
        out.append(bytes, count);
        return error;
    }
    std::string rest() const {
        const auto data = buffer_.data();
        return {static_cast<const char*>(data.data()), data.size()};
    }

private:
    void run() {
        context_.restart();
        context_.run();
    }
    const std::string& address_;
    asio::io_context context_{1};
    beast::tcp_stream stream_{context_};
    beast::flat_buffer buffer_;
};

http::request<http::string_body> make_request(std::string_view method, const std::string& target,
                                              const std::string& address, const Secret& token, std::string body) {
    http::request<http::string_body> request;
    request.method_string(beast::string_view(method.data(), method.size()));
    request.target(target);
    request.version(11);
    request.set(http::field::host, address);
    if (!token.empty()) request.set(http::field::authorization, "Bearer " + token.reveal());
    if (!body.empty()) request.set(http::field::content_type, "application/json");
    request.body() = std::move(body);
    request.prepare_payload();
    request.keep_alive(false);
    return request;
}

Error unreachable(const std::string& address, const beast::error_code& error) {
    return Error(ErrorKind::unavailable, fmt::format("no opid answers at {}: {}", address, error.message()));
}

}  // namespace

Result<AdminAnswer> AdminClient::call(std::string_view method, const std::string& target, std::string body) const {
    Conversation conversation(address_);
    beast::error_code error = conversation.connect();
    if (!error) error = conversation.send(make_request(method, target, address_, token_, std::move(body)));
    http::response_parser<http::string_body> parser;
    parser.body_limit(answer_bytes_max);
    if (!error) error = conversation.read(parser, false, false);
    if (error) return unreachable(address_, error);
    AdminAnswer answer;
    answer.status = static_cast<int>(parser.get().result_int());
    answer.body = std::move(parser.get().body());
    return answer;
}

Result<AdminAnswer> AdminClient::events(const std::function<bool(std::string_view data)>& take) const {
    Conversation conversation(address_);
    beast::error_code error = conversation.connect();
    if (!error) error = conversation.send(make_request("GET", "/v1/events", address_, token_, {}));
    http::response_parser<http::empty_body> parser;
    if (!error) error = conversation.read(parser, true, false);
    if (error) return unreachable(address_, error);
    AdminAnswer answer;
    answer.status = static_cast<int>(parser.get().result_int());
    if (!answer.success()) return answer;
    std::string text = conversation.rest();
    for (;;) {
        for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
            const std::string line = text.substr(0, end);
            text.erase(0, end + 1);
            constexpr std::string_view data = "data: ";
            if (line.starts_with(data) && !take(std::string_view(line).substr(data.size()))) return answer;
        }
        if (conversation.read_some(text)) return answer;
    }
}

}  // namespace opid
