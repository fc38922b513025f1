#include "backends/collective/rendezvous.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>

#include "backends/collective/internet_address.h"
#include "backends/collective/socket_links.h"

namespace burn::backends {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kHalf = kTicketBytes / 2;
constexpr std::size_t kMaxUnidentified = 32;     // connections whose greeting has not arrived
constexpr milliseconds kGreetingTimeout{2'000};  // for a greeting to arrive

// The first bytes that the connecting member sends.
struct Greeting {
  std::array<char, 8> magic{'B', 'U', 'R', 'N', 'G', 'R', 'P', '1'};
  std::array<char, kHalf> half{};
  std::uint32_t from = 0, to = 0;  // ranks
};
static_assert(sizeof(Greeting) == 24);
using Answer = std::array<char, kHalf>;

std::string error_text() { return std::system_category().message(errno); }

// Compares in constant time.
bool is_same(const std::array<char, kHalf>& a, const std::array<char, kHalf>& b) {
  unsigned differs = 0;
  for (std::size_t i = 0; i < kHalf; ++i)
    differs |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return differs == 0;
}

void prepare_socket(int fd) {
  const int on = 1;
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  (void)::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

// A connection that this member opens to another one.
struct OutgoingConnection {
  UniqueFd socket;
  std::string address;
  bool is_connected = false;
  Answer answer{};
  std::size_t received = 0;
  bool is_done = false;
};

// An accepted connection that has not sent its greeting yet.
struct IncomingConnection {
  UniqueFd socket;
  Clock::time_point until;
  Greeting greeting;
  std::size_t received = 0;
};

class SocketRendezvous final : public Rendezvous {
 public:
  SocketRendezvous(UniqueFd listener, UniqueFd wake, InternetAddress address, const std::string& ticket, int rank,
                   int size)
      : listener_(std::move(listener)),
        wake_(std::move(wake)),
        address_(address),
        text_(to_string(address)),
        rank_(rank),
        outgoing_(static_cast<std::size_t>(size)),
        peers_(static_cast<std::size_t>(size)) {
    std::copy_n(ticket.begin(), kHalf, greeting_half_.begin());
    std::copy_n(ticket.begin() + kHalf, kHalf, answer_half_.begin());
  }

  const std::string& address() const override { return text_; }

  Result<std::unique_ptr<Links>> meet(std::span<const std::string> addresses, milliseconds deadline) override {
    if (addresses.size() != outgoing_.size())
      return invalid_argument(fmt::format("{} addresses for {} members", addresses.size(), outgoing_.size()));
    const auto until = Clock::now() + deadline;
    for (std::size_t m = 0; m < outgoing_.size(); ++m) {
      if (m != me()) BURN_RETURN_IF_ERROR(start_connecting(m, addresses[m]));
    }
    while (!is_complete()) {
      BURN_RETURN_IF_ERROR(why_stopped());
      const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
      if (left.count() <= 0) return missing();
      BURN_RETURN_IF_ERROR(wait_for_progress(std::min(left, milliseconds{200})));
    }
    for (std::size_t m = 0; m < outgoing_.size(); ++m) peers_[m].to = std::move(outgoing_[m].socket);
    listener_ = {};
    incoming_.clear();
    return make_socket_links(rank_, std::move(peers_));
  }

  void stop(const Status& why) override {
    {
      const std::lock_guard lock{mutex_};
      if (stopped_.ok()) stopped_ = why;
    }
    const std::uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof one);
  }

 private:
  std::size_t me() const { return static_cast<std::size_t>(rank_); }
  Status why_stopped() const {
    const std::lock_guard lock{mutex_};
    return stopped_;
  }

  bool is_complete() const {
    for (std::size_t m = 0; m < outgoing_.size(); ++m) {
      if (m != me() && (!outgoing_[m].is_done || !peers_[m].from)) return false;
    }
    return true;
  }

  Status missing() const {
    std::string names;
    for (std::size_t m = 0; m < outgoing_.size(); ++m) {
      if (m != me() && (!outgoing_[m].is_done || !peers_[m].from))
        names += fmt::format("{}{}", names.empty() ? "" : ", ", m);
    }
    return {StatusCode::deadline_exceeded,
            fmt::format("the group was not formed in time: member {} is missing", names)};
  }

  Status unreachable(std::size_t member, const std::string& why) const {
    return unavailable(fmt::format("member {} at {}: {}", member, outgoing_[member].address, why));
  }

  // --- outgoing connections ------------------------------------------------------------------------------------------

  Status start_connecting(std::size_t member, const std::string& text) {
    auto& connection = outgoing_[member];
    connection.address = text.substr(0, 64);
    BURN_TRY(const auto address, parse_address(text));
    if (address_.is_loopback() && !address.is_loopback())
      return invalid_argument(
          fmt::format("member {} at {}: a member on loopback calls no other machine", member, connection.address));
    connection.socket = UniqueFd{::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (!connection.socket) return unreachable(member, error_text());
    prepare_socket(connection.socket.get());
    if (::connect(connection.socket.get(), address.get(), address.size) != 0 && errno != EINPROGRESS)
      return unreachable(member, error_text());
    return {};
  }

  Status continue_outgoing(std::size_t member) {
    auto& connection = outgoing_[member];
    if (!connection.is_connected) {
      int error = 0;
      socklen_t size = sizeof error;
      (void)::getsockopt(connection.socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
      errno = error;
      if (error != 0) return unreachable(member, error_text());
      const Greeting greeting{
          .half = greeting_half_, .from = static_cast<std::uint32_t>(rank_), .to = static_cast<std::uint32_t>(member)};
      // A new connection's send buffer has room for so few bytes.
      if (::send(connection.socket.get(), &greeting, sizeof greeting, MSG_NOSIGNAL) != sizeof greeting)
        return unreachable(member, error_text());
      connection.is_connected = true;
      return {};
    }
    const auto got =
        ::recv(connection.socket.get(), connection.answer.data() + connection.received, kHalf - connection.received, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
    if (got <= 0) return unreachable(member, "it does not know the group's ticket, or has gone");
    connection.received += static_cast<std::size_t>(got);
    if (connection.received < kHalf) return {};
    if (!is_same(connection.answer, answer_half_)) return unreachable(member, "it does not know the group's ticket");
    connection.is_done = true;
    return {};
  }

  // --- incoming connections ------------------------------------------------------------------------------------------

  void accept() {
    while (true) {
      UniqueFd socket{::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
      if (!socket) return;
      prepare_socket(socket.get());
      if (incoming_.size() == kMaxUnidentified) incoming_.erase(incoming_.begin());  // the oldest one
      incoming_.push_back({std::move(socket), Clock::now() + kGreetingTimeout, {}, 0});
    }
  }

  // Returns whether the connection leaves the list: it has become a member's connection, or is dropped.
  bool continue_incoming(IncomingConnection& connection) {
    auto* const bytes = reinterpret_cast<char*>(&connection.greeting);
    const auto got = ::recv(connection.socket.get(), bytes + connection.received,
                            sizeof connection.greeting - connection.received, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Clock::now() > connection.until;
    if (got <= 0) return true;
    connection.received += static_cast<std::size_t>(got);
    if (connection.received < sizeof connection.greeting) return false;
    const auto& said = connection.greeting;
    if (said.magic != Greeting{}.magic || !is_same(said.half, greeting_half_)) return true;
    if (said.to != me() || said.from >= peers_.size() || said.from == me() || peers_[said.from].from) return true;
    if (::send(connection.socket.get(), answer_half_.data(), kHalf, MSG_NOSIGNAL) != static_cast<ssize_t>(kHalf))
      return true;
    peers_[said.from].from = std::move(connection.socket);
    return true;
  }

  Status wait_for_progress(milliseconds most) {
    std::vector<pollfd> files{{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const auto& connection : outgoing_) {
      const bool is_open = connection.socket && !connection.is_done;
      files.push_back(
          {is_open ? connection.socket.get() : -1, static_cast<short>(connection.is_connected ? POLLIN : POLLOUT), 0});
    }
    for (const auto& connection : incoming_) files.push_back({connection.socket.get(), POLLIN, 0});
    (void)::poll(files.data(), files.size(), static_cast<int>(most.count()));
    for (std::size_t m = 0; m < outgoing_.size(); ++m) {
      if (files[m + 2].revents != 0) BURN_RETURN_IF_ERROR(continue_outgoing(m));
    }
    for (auto connection = incoming_.begin(); connection != incoming_.end();)
      connection = continue_incoming(*connection) ? incoming_.erase(connection) : std::next(connection);
    if (files[1].revents != 0) accept();
    return {};
  }

  UniqueFd listener_;
  const UniqueFd wake_;
  const InternetAddress address_;
  const std::string text_;
  const int rank_;
  // The halves of the ticket: sent by the connecting side, and by the accepting one.
  std::array<char, kHalf> greeting_half_{}, answer_half_{};
  std::vector<OutgoingConnection> outgoing_;  // by rank
  std::vector<PeerSockets> peers_;
  std::vector<IncomingConnection> incoming_;  // in the order in which they were accepted

  mutable std::mutex mutex_;
  Status stopped_;
};

}  // namespace

Result<std::unique_ptr<Rendezvous>> Rendezvous::listen(const std::string& host, const std::string& ticket, int rank,
                                                       int size) {
  if (ticket.size() != kTicketBytes)
    return invalid_argument(fmt::format("a ticket of {} bytes; it has {}", ticket.size(), kTicketBytes));
  BURN_TRY(auto address, parse_host(host, "0"));
  if (address.is_any()) return invalid_argument(fmt::format("{} is every address: others need one to call", host));
  UniqueFd listener{::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  UniqueFd wake{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  if (!listener || !wake) return resource_exhausted(fmt::format("no socket to be had for a group: {}", error_text()));
  if (::bind(listener.get(), address.get(), address.size) != 0 || ::listen(listener.get(), SOMAXCONN) != 0)
    return unavailable(fmt::format("a group cannot meet at {}: {}", host, error_text()));
  address.size = sizeof address.storage;
  if (::getsockname(listener.get(), address.get(), &address.size) != 0)
    return unavailable(fmt::format("a group cannot meet at {}: {}", host, error_text()));
  return std::unique_ptr<Rendezvous>(
      std::make_unique<SocketRendezvous>(std::move(listener), std::move(wake), address, ticket, rank, size));
}

}  // namespace burn::backends
