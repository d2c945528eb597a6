// A listening socket on loopback.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cstdint>

namespace opid::bench {

struct Listener {
    int fd = -1;             // does not block
    std::uint16_t port = 0;  // 0: it could not be had
};

// Port 0: one of the system's choice.
inline Listener listen_on(std::uint16_t port) {
    Listener made;
    made.fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(made.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (bind(made.fd, reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(made.fd, 4096) != 0) return made;
    getsockname(made.fd, reinterpret_cast<sockaddr*>(&address), &length);
    made.port = ntohs(address.sin_port);
    return made;
}

}  // namespace opid::bench
