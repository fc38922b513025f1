#include "daemon/operator/client.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <memory>

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "net/transport/socket.h"

namespace burn::daemon {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kUnix = "unix:";
constexpr std::size_t kMaxAnswer = std::size_t{16} << 20;
constexpr int kSocketFlags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

struct Place {
  sockaddr_storage address{};
  socklen_t size = 0;
};

Result<Place> resolve_unix(const std::string& path) {
  Place place;
  auto& address = reinterpret_cast<sockaddr_un&>(place.address);
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return invalid_argument(fmt::format("unix socket path \"{}\" has {} bytes, not 1 to {}", path, path.size(),
                                        sizeof address.sun_path - 1));
  }
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  place.size = sizeof address;
  return place;
}

Result<Place> resolve(const std::string& address) {
  if (address.starts_with(kUnix)) return resolve_unix(address.substr(kUnix.size()));
  BURN_TRY(const auto where, net::parse_host_port(address));
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &found);
  if (failed != 0) return unavailable(fmt::format("{}: {}", address, ::gai_strerror(failed)));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses{found, &::freeaddrinfo};
  Place place{.size = addresses->ai_addrlen};
  std::copy_n(reinterpret_cast<const std::byte*>(addresses->ai_addr), addresses->ai_addrlen,
              reinterpret_cast<std::byte*>(&place.address));
  return place;
}

// A socket to a daemon, until a time.
class Line {
 public:
  Line(const std::string& address, Clock::time_point deadline) : address_(address), deadline_(deadline) {}

  Status connect() {
    BURN_TRY(const auto place, resolve(address_));
    socket_ = net::UniqueFd{::socket(place.address.ss_family, kSocketFlags, 0)};
    if (!socket_) return failed(errno);
    if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&place.address), place.size) == 0) return {};
    if (errno != EINPROGRESS) return failed(errno);
    BURN_RETURN_IF_ERROR(wait(POLLOUT));
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    return error == 0 ? Status{} : failed(error);
  }

  Status send(std::string_view bytes) {
    while (!bytes.empty()) {
      BURN_RETURN_IF_ERROR(wait(POLLOUT));
      const auto sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN && errno != EINTR) return failed(errno);
      if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
  }

  // All up to the end.
  Result<std::string> read() {
    std::string all;
    std::array<char, 16'384> buffer{};
    for (;;) {
      BURN_RETURN_IF_ERROR(wait(POLLIN));
      const auto got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (got == 0) return all;
      if (got < 0 && errno != EAGAIN && errno != EINTR) return failed(errno);
      if (got > 0) all.append(buffer.data(), static_cast<std::size_t>(got));
      if (all.size() > kMaxAnswer) return data_loss(fmt::format("{} answers without end", address_));
    }
  }

 private:
  Status failed(int error) const { return unavailable(fmt::format("{}: {}", address_, net::errno_text(error))); }

  Status wait(short events) const {
    pollfd waited{.fd = socket_.get(), .events = events, .revents = 0};
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
      if (left <= 0) return {StatusCode::deadline_exceeded, fmt::format("{} does not answer in time", address_)};
      const int ready = ::poll(&waited, 1, static_cast<int>(std::min<std::int64_t>(left, 1'000'000)));
      if (ready > 0) return {};
      if (ready < 0 && errno != EINTR) return failed(errno);
    }
  }

  const std::string& address_;
  const Clock::time_point deadline_;
  net::UniqueFd socket_;
};

// Of a server of ours: it says how long the body is, and closes.
Result<OperatorAnswer> parse(std::string_view text) {
  constexpr std::string_view kVersion = "HTTP/1.1 ", kEnd = "\r\n\r\n", kLength = "Content-Length: ";
  const auto end = text.find(kEnd);
  const auto length_at = text.find(kLength);
  OperatorAnswer answer;
  std::size_t length = 0;
  const auto read = [&](std::string_view digits, auto& number) {
    return std::from_chars(digits.data(), digits.data() + digits.size(), number).ec == std::errc{};
  };
  const bool is_answer = text.starts_with(kVersion) && end != std::string_view::npos && length_at < end &&
                         read(text.substr(kVersion.size()), answer.status) &&
                         read(text.substr(length_at + kLength.size()), length);
  if (!is_answer) return data_loss("what answers there is no operator's port");
  answer.body = text.substr(end + kEnd.size());
  if (answer.body.size() == length) return answer;
  return data_loss(fmt::format("the answer has {} bytes of {}", answer.body.size(), length));
}

}  // namespace

Result<OperatorAnswer> ask_operator(const std::string& address, std::string_view method, std::string_view path,
                                    std::chrono::milliseconds timeout) {
  Line line{address, Clock::now() + timeout};
  BURN_RETURN_IF_ERROR(line.connect());
  BURN_RETURN_IF_ERROR(
      line.send(fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", method, path)));
  BURN_TRY(const auto text, line.read());
  return parse(text);
}

}  // namespace burn::daemon
