#pragma once
// Idle upstream connections of one thread. Each is closed before its origin would close it, checked before it is used
// again, and dropped when the profiles were reloaded since it was made.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "adapters/net/dialler.hpp"

namespace opid {

class ConnectionPool {
public:
    static constexpr Millis idle_limit{4000};  // common servers close after 5 s
    static constexpr std::size_t idle_in_all = 2048;

    explicit ConnectionPool(Deadlines& deadlines);
    ~ConnectionPool();
    ConnectionPool(const ConnectionPool&) = delete;
    ConnectionPool& operator=(const ConnectionPool&) = delete;

    // The connection used last, checked just now; nothing when there is none younger than `idle_max`.
    std::optional<Stream> take(const Origin& origin, std::uint64_t generation, Millis idle_max = idle_limit);
    void give(const Origin& origin, Stream stream, std::uint64_t generation, Millis keep = idle_limit);
    std::size_t size() const { return count_; }
    void keep_per_origin(std::size_t count) { idle_per_origin_ = count; }
    void clear();

private:
    struct Idle;
    struct Shelf {
        std::vector<std::unique_ptr<Idle>> idle;
    };
    static void on_idle_end(void* idle) noexcept;
    void drop(Idle& idle) noexcept;

    Deadlines& deadlines_;
    std::unordered_map<std::string, Shelf> shelves_;
    std::vector<std::unique_ptr<Idle>> spare_;
    std::size_t count_ = 0;
    std::size_t idle_per_origin_ = 256;
};

// The one of this io_context, made on first use and gone with it.
ConnectionPool& pool_of(boost::asio::io_context& context);

// How long an answer's Keep-Alive lets us keep the connection: its hint less a second, at most idle_limit.
Millis keep_hint(std::string_view keep_alive);

}  // namespace opid
