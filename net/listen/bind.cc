#include "net/listen/bind.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/listen/peer.h"

namespace burn::net {
namespace {

constexpr int kSocketFlags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

Status cannot_listen(const std::string& address, const std::string& why) {
  return unavailable("cannot listen on " + address + ": " + why);
}

std::string bound_address(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  ::getsockname(fd, address, &size);
  return to_string(address);
}

// Returns 0, or the errno of the call that failed.
int bind_and_listen(int fd, const sockaddr* address, socklen_t size) {
  if (::bind(fd, address, size) != 0 || ::listen(fd, SOMAXCONN) != 0) return errno;
  return 0;
}

bool is_loopback(const sockaddr* address) { return Peer::of(to_string(address)).where == Peer::Where::loopback; }

// Whether a process accepts connections at the address.
bool is_served(const sockaddr_un& address) {
  const UniqueFd probe{::socket(AF_UNIX, kSocketFlags, 0)};
  const int status = ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return status == 0 || errno == EAGAIN;  // EAGAIN: its queue of connections is full
}

int int_option(int fd, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

// The inherited socket "fd:3". Errors if it is not of the family of unix sockets, or of TCP, as `is_unix` says.
Result<UniqueFd> inherited(const std::string& address, bool is_unix) {
  const auto wrong = [&](const std::string& why) { return invalid_argument(address + ": " + why); };
  const auto text = std::string_view{address}.substr(kInherited.size());
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0)
    return wrong("a descriptor is a number, as in fd:3");
  if (int_option(number, SO_TYPE) != SOCK_STREAM || int_option(number, SO_ACCEPTCONN) != 1)
    return wrong("this descriptor is no stream socket that listens");
  const int family = int_option(number, SO_DOMAIN);
  if (is_unix ? family != AF_UNIX : family != AF_INET && family != AF_INET6)
    return wrong(is_unix ? "this socket is no unix socket" : "this socket is none of TCP");
  // A copy, so that a second listener on the same descriptor does not use a closed one.
  UniqueFd own{::fcntl(number, F_DUPFD_CLOEXEC, 0)};
  if (!own || ::fcntl(own.get(), F_SETFL, O_NONBLOCK) != 0 || ::fcntl(number, F_SETFD, FD_CLOEXEC) != 0)
    return cannot_listen(address, errno_text(errno));
  return own;
}

Status not_loopback(const std::string& address) {
  return failed_precondition("other machines can reach " + address + ", and no token is asked for");
}

Result<BoundSocket> inherited_tcp(const std::string& address, bool loopback_only) {
  BURN_TRY(UniqueFd fd, inherited(address, false));
  std::string bound = bound_address(fd.get());
  if (loopback_only && Peer::of(bound).where != Peer::Where::loopback) return not_loopback(bound);
  return BoundSocket{std::move(fd), std::move(bound)};
}

Result<BoundSocket> inherited_unix(const std::string& address) {
  BURN_TRY(UniqueFd fd, inherited(address, true));
  sockaddr_un name{};
  socklen_t size = sizeof name;
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&name), &size);
  std::string path{name.sun_path, ::strnlen(name.sun_path, sizeof name.sun_path)};
  return BoundSocket{std::move(fd), std::move(path)};
}

}  // namespace

Result<BoundSocket> bind_tcp(const std::string& address, bool loopback_only) {
  if (address.starts_with(kInherited)) return inherited_tcp(address, loopback_only);
  BURN_TRY(const HostPort where, parse_host_port(address));
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &found);
  if (failed != 0) return cannot_listen(address, ::gai_strerror(failed));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses{found, &::freeaddrinfo};

  if (loopback_only && !is_loopback(addresses->ai_addr)) {
    return not_loopback(address);
  }
  UniqueFd fd{::socket(addresses->ai_family, kSocketFlags, 0)};
  if (!fd) return cannot_listen(address, errno_text(errno));
  const int on = 1;  // a restarted server can bind its port at once
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (const int error = bind_and_listen(fd.get(), addresses->ai_addr, addresses->ai_addrlen); error != 0) {
    return cannot_listen(address, errno_text(error));
  }
  std::string bound = bound_address(fd.get());
  return BoundSocket{std::move(fd), std::move(bound)};
}

Result<BoundSocket> bind_unix(const std::string& path) {
  if (path.starts_with(kInherited)) return inherited_unix(path);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return invalid_argument("unix socket path \"" + path + "\" has " + std::to_string(path.size()) +
                            " bytes, not 1 to " + std::to_string(sizeof address.sun_path - 1));
  }
  std::copy(path.begin(), path.end(), address.sun_path);

  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0) {
    if (!S_ISSOCK(info.st_mode)) return cannot_listen(path, "there is a file that is not a socket");
    if (is_served(address)) return cannot_listen(path, errno_text(EADDRINUSE));
    ::unlink(path.c_str());  // left behind by a server that died
  }
  UniqueFd fd{::socket(AF_UNIX, kSocketFlags, 0)};
  if (!fd) return cannot_listen(path, errno_text(errno));
  const int error = bind_and_listen(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (error != 0) return cannot_listen(path, errno_text(error));
  return BoundSocket{std::move(fd), path, path};
}

}  // namespace burn::net
