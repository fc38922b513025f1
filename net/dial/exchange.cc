#include "net/dial/exchange.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "net/dial/transports.h"
#include "net/transport/socket.h"

namespace burn::net {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kUnix = "unix:";
constexpr std::size_t kMaxAnswer = std::size_t{16} << 20;

Result<UniqueFd> dial(const std::string& address, Clock::time_point deadline) {
  if (!address.starts_with(kUnix)) {
    BURN_TRY(const auto where, parse_host_port(address));
    return dial_tcp(where, deadline);
  }
  const auto path = address.substr(kUnix.size());
  constexpr auto kMaxPath = sizeof(sockaddr_un{}.sun_path) - 1;
  if (!path.empty() && path.size() <= kMaxPath) return dial_unix(path, deadline);
  return invalid_argument(
      fmt::format("unix socket path \"{}\" has {} bytes, not 1 to {}", path, path.size(), kMaxPath));
}

// A connection whose operations fail after a deadline.
class Line {
 public:
  Line(const std::string& address, Clock::time_point deadline) : address_(address), deadline_(deadline) {}

  Status connect() {
    auto socket = dial(address_, deadline_);
    if (!socket.ok()) {
      const auto why = socket.status();
      return why.code() == StatusCode::unavailable ? why.with_context(address_) : why;
    }
    socket_ = *std::move(socket);
    return {};
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

  // Reads until the server closes the connection.
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
  Status failed(int error) const { return unavailable(fmt::format("{}: {}", address_, errno_text(error))); }

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
  UniqueFd socket_;
};

}  // namespace

Result<std::string> exchange(const std::string& address, std::string_view request, std::chrono::milliseconds timeout) {
  Line line{address, Clock::now() + timeout};
  BURN_RETURN_IF_ERROR(line.connect());
  BURN_RETURN_IF_ERROR(line.send(request));
  return line.read();
}

}  // namespace burn::net
