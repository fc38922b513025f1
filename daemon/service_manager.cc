#include "daemon/service_manager.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include <sys/socket.h>
#include <sys/un.h>

#include "net/transport/socket.h"

namespace burn::daemon {

void notify_service_manager(std::string_view state) {
  const char* variable = std::getenv("NOTIFY_SOCKET");  // NOLINT(concurrency-mt-unsafe): no thread writes it
  const std::string_view path{variable ? variable : ""};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return;
  std::copy(path.begin(), path.end(), address.sun_path);
  if (path.front() == '@') address.sun_path[0] = '\0';  // an abstract socket name
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  const net::UniqueFd socket{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!socket) return;
  (void)::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address),
                 size);
}

}  // namespace burn::daemon
