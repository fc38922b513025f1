#include <algorithm>
#include <cerrno>
#include <thread>

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "net/dial/transports.h"

namespace burn::net {
namespace {

constexpr int kSocketFlags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

int milliseconds_until(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1 << 30));
}

// Returns 0, or the errno of the failure.
int connect_until(int fd, const sockaddr* address, socklen_t size, Deadline deadline) {
  if (::connect(fd, address, size) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  pollfd waiting{.fd = fd, .events = POLLOUT, .revents = 0};
  int ready;
  do {
    ready = ::poll(&waiting, 1, milliseconds_until(deadline));
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t error_size = sizeof error;
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_size);
  return error;
}

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Result<Addresses> look_up(const HostPort& address) {
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  if (failed != 0) return unavailable(::gai_strerror(failed));
  return Addresses{found, &::freeaddrinfo};
}

}  // namespace

Result<std::vector<std::string>> resolve(const HostPort& address) {
  BURN_TRY(const Addresses found, look_up(address));
  std::vector<std::string> numeric;
  for (const addrinfo* it = found.get(); it != nullptr; it = it->ai_next) {
    numeric.push_back(to_string(it->ai_addr));
  }
  return numeric;
}

Result<UniqueFd> dial_tcp(const HostPort& address, Deadline deadline) {
  BURN_TRY(const Addresses found, look_up(address));
  int error = 0;
  for (const addrinfo* it = found.get(); it != nullptr; it = it->ai_next) {
    UniqueFd fd{::socket(it->ai_family, kSocketFlags, 0)};
    error = fd ? connect_until(fd.get(), it->ai_addr, it->ai_addrlen, deadline) : errno;
    if (error == 0) return fd;
  }
  return unavailable(errno_text(error));
}

Result<UniqueFd> dial_unix(const std::string& path, Deadline deadline) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return unavailable(errno_text(ENAMETOOLONG));
  std::copy(path.begin(), path.end(), address.sun_path);
  UniqueFd fd{::socket(AF_UNIX, kSocketFlags, 0)};
  if (!fd) return unavailable(errno_text(errno));
  while (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno != EAGAIN || milliseconds_until(deadline) == 0) return unavailable(errno_text(errno));
    std::this_thread::sleep_for(std::chrono::milliseconds{5});  // the server's queue of connections is full
  }
  return fd;
}

}  // namespace burn::net
