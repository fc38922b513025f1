#include "net/listen/received_bytes.h"

#include <array>
#include <cstddef>

#include <linux/tcp.h>  // <netinet/tcp.h> of glibc ends before the field
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace burn::net {

std::optional<std::uint64_t> received_bytes(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  if (size < offsetof(tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received) return std::nullopt;
  return info.tcpi_bytes_received;
}

std::uint64_t unread_bytes(int socket) {
  int count = 0;
  return ::ioctl(socket, FIONREAD, &count) == 0 && count > 0 ? static_cast<std::uint64_t>(count) : 0;
}

std::optional<TakenBytes> taken_bytes(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  int waiting = 0;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || ::ioctl(socket, TIOCOUTQ, &waiting) != 0)
    return std::nullopt;
  if (size < offsetof(tcp_info, tcpi_bytes_acked) + sizeof info.tcpi_bytes_acked) return std::nullopt;
  return TakenBytes{info.tcpi_bytes_acked, waiting > 0};
}

void end_unread(int socket) {
  // When the last descriptor is closed, sends RST, so that the peer learns that nothing more is read. Without it a peer
  // whose window was closed would wait for as long as the system remembers the connection, a minute and more.
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  (void)::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);  // has no effect on unix sockets
  ::shutdown(socket, SHUT_RDWR);
  constexpr int kMax = 4096;  // reads; a socket's buffer holds less
  std::array<char, 16 << 10> nowhere;
  for (int i = 0; i < kMax; ++i) {
    if (::recv(socket, nowhere.data(), nowhere.size(), MSG_DONTWAIT) <= 0) break;
  }
}

}  // namespace burn::net
