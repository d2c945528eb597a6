#pragma once
// A TCP connection, or a TLS session over one, behind one type. read_now() and write_now() never wait: they say what
// to wait for, and waiting is a separate step without a buffer, so that an idle connection holds none. read() is for
// those who hold a buffer anyway. Used by one thread; two coroutines may drive the two directions.
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "adapters/system/deadlines.hpp"
#include "engine/task.hpp"

namespace opid {

class TlsSession;

// What one attempt to read or write came to.
struct Io {
    enum class State : std::uint8_t {
        done,        // bytes > 0, maybe fewer than asked for
        want_read,   // nothing moved: wait until readable
        want_write,  // nothing moved: wait until writable
        end,         // reading: the peer ended its direction in order
        cut,         // reading: TLS ended without close_notify
        failed,
    };
    State state = State::done;
    std::size_t bytes = 0;
    boost::system::error_code error;  // failed only

    bool blocked() const { return state == State::want_read || state == State::want_write; }
    bool cancelled() const { return error == boost::asio::error::operation_aborted; }
};

class Stream {
public:
    using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;
    using Endpoint = boost::asio::ip::tcp::endpoint;

    Stream();                        // closed
    explicit Stream(Socket socket);  // made non-blocking, TCP_NODELAY on
    Stream(Stream&&) noexcept;
    Stream& operator=(Stream&&) noexcept;
    ~Stream();

    bool is_open() const { return socket_ && socket_->is_open(); }
    bool is_tls() const { return tls_ != nullptr; }
    void start_tls(std::unique_ptr<TlsSession> tls);  // from here on all bytes go through the session
    bool has_pending() const;                         // bytes to read that no wait would announce (TLS)

    Io read_now(char* into, std::size_t room);
    // Gathers; done with fewer bytes than given means: wait_writable() and go on.
    Io write_now(std::span<const std::string_view> pieces);
    Io write_now(std::string_view piece) { return write_now(std::span<const std::string_view>(&piece, 1)); }
    Io handshake_now();  // done when finished; failed: tls_trouble() says why

    // Waits for bytes and takes them; never blocked. After cancel() or close(): failed, unless bytes had come before.
    // One system call on a plain socket, where wait() and read_now() make two.
    Task<Io> read(char* into, std::size_t room);

    // Resumes when an attempt may get further, or after cancel() or close(). `state` is want_read or want_write.
    auto wait(Io::State state) {
        return socket_->async_wait(state == Io::State::want_write ? Socket::wait_write : Socket::wait_read,
                                   boost::asio::as_tuple(use_task));
    }

    void cancel() noexcept;           // wakes all waits
    void shut_down_write() noexcept;  // after the last byte: close_notify, FIN
    void close() noexcept;
    void reset() noexcept;  // closes with RST, so that the peer sees an error and not an end

    bool fit_for_reuse();    // idle and healthy: nothing to read, not ended
    bool peer_left() const;  // the peer has ended or broken its direction
    std::string tls_trouble() const;
    bool certificate_refused() const;  // see TlsSession
    Socket& socket() { return *socket_; }

private:
    Io wrap(std::ptrdiff_t moved, bool reading) const;
    std::optional<Socket> socket_;
    std::unique_ptr<TlsSession> tls_;
};

// A deadline that cancels one stream's waits.
class StreamDeadline {
public:
    void arm(Deadlines& deadlines, Stream& stream, Millis after) {
        deadlines.arm(
            deadline_, after, [](void* s) noexcept { static_cast<Stream*>(s)->cancel(); }, &stream);
    }
    void disarm() noexcept { deadline_.disarm(); }
    bool expired() const noexcept { return deadline_.expired(); }

private:
    Deadline deadline_;
};

}  // namespace opid
