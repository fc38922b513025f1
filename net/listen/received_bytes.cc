#include "net/listen/received_bytes.h"

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

}  // namespace burn::net
