#include "daemon/operator/client.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <string>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "net/dial/transports.h"
#include "net/transport/socket.h"

namespace burn::daemon {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kUnix = "unix:";
constexpr std::size_t kMaxAnswer = std::size_t{16} << 20;

Result<net::UniqueFd> dial(const std::string& address, Clock::time_point deadline) {
  if (!address.starts_with(kUnix)) {
    BURN_TRY(const auto where, net::parse_host_port(address));
    return net::dial_tcp(where, deadline);
  }
  const auto path = address.substr(kUnix.size());
  constexpr auto kMaxPath = sizeof(sockaddr_un{}.sun_path) - 1;
  if (!path.empty() && path.size() <= kMaxPath) return net::dial_unix(path, deadline);
  return invalid_argument(
      fmt::format("unix socket path \"{}\" has {} bytes, not 1 to {}", path, path.size(), kMaxPath));
}

// A socket to a daemon, until a time.
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

// The number at the beginning of a text.
template <typename Number>
bool read_number(std::string_view digits, Number& number) {
  return std::from_chars(digits.data(), digits.data() + digits.size(), number).ec == std::errc{};
}

// Of a server of ours: it says how long the body is, and closes.
Result<OperatorAnswer> parse(std::string_view text) {
  constexpr std::string_view kVersion = "HTTP/1.1 ", kEnd = "\r\n\r\n", kLength = "Content-Length: ";
  const auto end = text.find(kEnd);
  const auto length_at = text.find(kLength);
  OperatorAnswer answer;
  std::size_t length = 0;
  const bool is_answer = text.starts_with(kVersion) && end != std::string_view::npos && length_at < end &&
                         read_number(text.substr(kVersion.size()), answer.status) &&
                         read_number(text.substr(length_at + kLength.size()), length);
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

Result<int> post_to(const std::string& address, std::string_view path, std::string_view content_type,
                    std::string_view body, std::chrono::milliseconds timeout) {
  Line line{address, Clock::now() + timeout};
  BURN_RETURN_IF_ERROR(line.connect());
  BURN_RETURN_IF_ERROR(line.send(
      fmt::format("POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                  path, address, content_type, body.size())));
  BURN_RETURN_IF_ERROR(line.send(body));
  BURN_TRY(const auto text, line.read());
  constexpr std::string_view kBegin = "HTTP/1.", kVersion = "HTTP/1.1 ";
  int status = 0;
  if (text.starts_with(kBegin) && text.size() > kVersion.size() &&
      read_number(std::string_view{text}.substr(kVersion.size()), status))
    return status;
  return data_loss(fmt::format("what answers at {} is no server of HTTP/1.1", address));
}

}  // namespace burn::daemon
