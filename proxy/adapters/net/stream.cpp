#include "adapters/net/stream.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <cerrno>

#include "adapters/net/tls_session.hpp"

namespace opid {

using boost::system::error_code;

namespace {

constexpr std::size_t pieces_max = 8;

error_code from_errno(int number) { return {number, boost::system::system_category()}; }

bool would_block(int number) { return number == EAGAIN || number == EWOULDBLOCK; }

}  // namespace

Stream::Stream() = default;

Stream::Stream(Socket socket) : socket_(std::move(socket)) {
    error_code ignored;  // a socket that refuses an option fails at its first use
    socket_->non_blocking(true, ignored);
    socket_->set_option(boost::asio::ip::tcp::no_delay(true), ignored);
    socket_->set_option(boost::asio::socket_base::keep_alive(true), ignored);
}

Stream::Stream(Stream&&) noexcept = default;
Stream& Stream::operator=(Stream&& other) noexcept {
    tls_ = std::move(other.tls_);
    socket_ = std::move(other.socket_);
    return *this;
}
Stream::~Stream() = default;

void Stream::start_tls(std::unique_ptr<TlsSession> tls) { tls_ = std::move(tls); }

bool Stream::has_pending() const { return tls_ && tls_->pending(); }

Io Stream::wrap(std::ptrdiff_t moved, bool reading) const {
    if (moved > 0) return {Io::State::done, static_cast<std::size_t>(moved), {}};
    if (moved == 0 && reading) return {Io::State::end, 0, {}};
    const int number = errno;
    if (would_block(number)) return {reading ? Io::State::want_read : Io::State::want_write, 0, {}};
    return {Io::State::failed, 0, from_errno(number)};
}

Io Stream::read_now(char* into, std::size_t room) {
    if (!is_open()) return {Io::State::failed, 0, from_errno(EBADF)};
    if (tls_) return tls_->read(into, room);
    std::ptrdiff_t got = 0;
    do {
        got = ::recv(socket_->native_handle(), into, room, 0);
    } while (got < 0 && errno == EINTR);
    return wrap(got, true);
}

Io Stream::write_now(std::span<const std::string_view> pieces) {
    if (!is_open()) return {Io::State::failed, 0, from_errno(EBADF)};
    if (tls_) {
        if (pieces.size() == 1) return tls_->write(pieces[0]);
        return tls_->write_gathered(pieces);
    }
    if (pieces.size() == 1) {
        std::ptrdiff_t sent = 0;
        do {
            sent = ::send(socket_->native_handle(), pieces[0].data(), pieces[0].size(), MSG_NOSIGNAL);
        } while (sent < 0 && errno == EINTR);
        return wrap(sent, false);
    }
    std::array<iovec, pieces_max> vectors{};
    const std::size_t count = std::min(pieces.size(), pieces_max);
    for (std::size_t i = 0; i < count; ++i) {
        vectors[i] = {const_cast<char*>(pieces[i].data()), pieces[i].size()};
    }
    msghdr message{};
    message.msg_iov = vectors.data();
    message.msg_iovlen = count;
    std::ptrdiff_t sent = 0;
    do {
        sent = ::sendmsg(socket_->native_handle(), &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return wrap(sent, false);
}

Io Stream::handshake_now() {
    if (!is_open() || !tls_) return {Io::State::failed, 0, from_errno(EBADF)};
    return tls_->handshake();
}

Task<Io> Stream::read(char* into, std::size_t room) {
    Io io{Io::State::failed, 0, from_errno(EBADF)};
    if (!is_open()) co_return io;
    while (tls_) {
        io = tls_->read(into, room);
        if (!io.blocked()) co_return io;
        auto ready = wait(io.state);
        const std::tuple<error_code> waited = co_await std::move(ready);
        const error_code& error = std::get<0>(waited);
        if (!error && is_open()) continue;
        io.state = Io::State::failed;
        io.error = error;
        co_return io;
    }
    auto reading = socket_->async_read_some(boost::asio::buffer(into, room), boost::asio::as_tuple(use_task));
    const std::tuple<error_code, std::size_t> read = co_await std::move(reading);
    io.error = std::get<0>(read);
    io.bytes = std::get<1>(read);
    if (io.bytes > 0) {
        io.state = Io::State::done;
    } else if (io.error == boost::asio::error::eof) {
        io.state = Io::State::end;
    }
    co_return io;
}

void Stream::cancel() noexcept {
    if (!is_open()) return;
    error_code ignored;
    socket_->cancel(ignored);
}

void Stream::shut_down_write() noexcept {
    if (!is_open()) return;
    if (tls_) tls_->close_notify();
    error_code ignored;
    socket_->shutdown(Socket::shutdown_send, ignored);
}

void Stream::close() noexcept {
    if (!is_open()) return;
    if (tls_) tls_->close_notify();
    error_code ignored;
    socket_->close(ignored);
}

void Stream::reset() noexcept {
    if (!is_open()) return;
    error_code ignored;
    socket_->set_option(boost::asio::socket_base::linger(true, 0), ignored);
    socket_->close(ignored);
}

bool Stream::fit_for_reuse() {
    if (!is_open()) return false;
    if (tls_) return tls_->idle_and_healthy();
    char byte = 0;
    const auto got = ::recv(socket_->native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got < 0 && would_block(errno);
}

bool Stream::peer_left() const {
    if (!is_open()) return true;
    pollfd state{const_cast<Socket&>(*socket_).native_handle(), POLLRDHUP, 0};
    return ::poll(&state, 1, 0) > 0;
}

bool Stream::certificate_refused() const { return tls_ && tls_->certificate_refused(); }

std::string Stream::tls_trouble() const { return tls_ ? tls_->trouble() : std::string(); }

}  // namespace opid
