#include "net/listen/accept_loop.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/thread.h"
#include "net/listen/process_limits.h"
#include "net/listen/received_bytes.h"

namespace burn::net {
namespace {

using std::chrono::milliseconds;

constexpr auto kPause = milliseconds{100};  // before a retry after accept() failed
constexpr auto kTick = milliseconds{1000};
constexpr int kAcceptsPerTurn = 64;
constexpr auto kRefusalTime = milliseconds{1000};  // time for a peer to read why it is refused
constexpr std::uint64_t kMinArrival = 512;         // least count for an arrival: bytes may be read before the check
// An estimate may count unread bytes again when more arrive, so on a busy server it is a few times the bytes that were
// sent: up to the 64 KiB that HTTP/2 lets a client send before the server reads.
constexpr double kUnnamedBurst = 4 * TokenBucket::kBurst;

}  // namespace

Result<std::unique_ptr<AcceptLoop>> AcceptLoop::start(UniqueFd listening, std::shared_ptr<PermitPool> permits,
                                                      Callbacks callbacks) {
  UniqueFd poll{::epoll_create1(EPOLL_CLOEXEC)}, wake_event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!poll || !wake_event) return unavailable("cannot wait for connections: " + errno_text(errno));
  std::unique_ptr<AcceptLoop> loop{new AcceptLoop{std::move(listening), std::move(poll), std::move(wake_event),
                                                  std::move(permits), std::move(callbacks)}};
  if (!loop->watch(loop->wake_event_.get(), EPOLLIN) || !loop->watch(loop->listening_.get(), EPOLLIN)) {
    return unavailable("cannot wait for connections: " + errno_text(errno));
  }
  try {
    loop->thread_ = start_thread("burn-accept", [self = loop.get()] { self->run(); });
  } catch (const std::system_error& error) {
    return unavailable(std::string{"cannot start a thread: "} + error.what());
  }
  return loop;
}

AcceptLoop::AcceptLoop(UniqueFd listening, UniqueFd poll, UniqueFd wake_event, std::shared_ptr<PermitPool> permits,
                       Callbacks callbacks)
    : listening_(std::move(listening)),
      poll_(std::move(poll)),
      wake_event_(std::move(wake_event)),
      permits_(std::move(permits)),
      callbacks_(std::move(callbacks)) {}

AcceptLoop::~AcceptLoop() { stop(); }

void AcceptLoop::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  ::eventfd_write(wake_event_.get(), 1);
  thread_.join();
}

bool AcceptLoop::watch(int fd, unsigned events, bool is_new) const {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  return ::epoll_ctl(poll_.get(), is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event) == 0;
}

// Without free descriptors the socket stays readable, so it is not watched for a moment instead of being polled again
// and again. The call cannot fail for a descriptor that is watched already, as the kernel allocates nothing.
void AcceptLoop::listen(bool wanted) { (void)watch(listening_.get(), wanted ? unsigned{EPOLLIN} : 0U, false); }

void AcceptLoop::run() {
  auto next_tick = Clock::now() + kTick;
  std::array<epoll_event, 64> events;
  while (true) {
    const bool is_paused = paused_until_ != Clock::time_point{};
    const auto wake = is_paused ? std::min(paused_until_, next_tick) : next_tick;
    const auto wait = std::chrono::ceil<milliseconds>(wake - Clock::now()).count();
    const int count = ::epoll_wait(poll_.get(), events.data(), static_cast<int>(events.size()),
                                   static_cast<int>(std::clamp<std::int64_t>(wait, 0, kTick.count())));
    {
      const std::lock_guard lock{mutex_};
      if (stopping_) return;
    }
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == listening_.get()) {
        accept_all();
      } else if (fd != wake_event_.get()) {
        const bool is_over = (events[static_cast<std::size_t>(i)].events & (EPOLLHUP | EPOLLERR)) != 0;
        is_over ? forget(fd) : count_received(fd);
      }
    }
    const auto now = Clock::now();
    if (is_paused && now >= paused_until_) {
      paused_until_ = {};
      listen(true);
    }
    if (now < next_tick) continue;
    next_tick = now + kTick;
    end_overdue();
    try {
      callbacks_.tick();
    } catch (const std::exception&) {  // no memory: tried again in a second
    }
  }
}

void AcceptLoop::accept_all() {
  for (int i = 0; i < kAcceptsPerTurn; ++i) {
    UniqueFd client{::accept4(listening_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (client) {
      try {
        serve(std::move(client));
      } catch (const std::exception&) {  // no memory: the connection is closed
      }
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != ECONNABORTED && errno != EINTR) {  // out of file descriptors, most likely
      listen(false);
      paused_until_ = Clock::now() + kPause;
      return;
    }
  }
}

void AcceptLoop::serve(UniqueFd client) {
  std::string peer = peer_name(client.get());
  auto permit = permits_->take(Peer::of(peer));
  if (!permit.ok() || !has_memory_for_connection(kResumeReserve)) return;  // with more memory, its call is told why
  UniqueFd ours{::fcntl(client.get(), F_DUPFD_CLOEXEC, 0)};
  if (!ours) return;
  const int fd = ours.get();
  keep(std::move(ours), *std::move(permit), peer);
  // EPOLLHUP, when both directions are shut down, is always reported.
  if (!watch(fd, EPOLLIN | EPOLLET)) return forget(fd);
  callbacks_.accepted(std::move(client));
}

void AcceptLoop::keep(UniqueFd ours, Permit permit, const std::string& peer) {
  const int fd = ours.get();
  const std::lock_guard lock{mutex_};
  const bool is_named = !peer.starts_with("unix");
  if (is_named) by_peer_.insert_or_assign(peer, fd);
  try {
    auto& connection = open_
                           .insert_or_assign(fd, AcceptedConnection{.socket = std::move(ours),
                                                                    .permit = std::move(permit),
                                                                    .peer = peer,
                                                                    .counted = Clock::now(),
                                                                    .is_named = is_named})
                           .first->second;
    if (!is_named) connection.bucket.begin(kUnnamedBurst, 0, Clock::now());
  } catch (...) {
    if (is_named) by_peer_.erase(peer);
    throw;
  }
}

void AcceptLoop::forget(int fd) {
  AcceptedConnection over;  // the permit is released outside the lock
  const std::lock_guard lock{mutex_};
  const auto it = open_.find(fd);
  if (it == open_.end()) return;
  (void)::epoll_ctl(poll_.get(), EPOLL_CTL_DEL, fd, nullptr);  // closing one of two descriptors would not remove it
  if (const auto named = by_peer_.find(it->second.peer); named != by_peer_.end() && named->second == fd) {
    by_peer_.erase(named);
  }
  over = std::move(it->second);
  open_.erase(it);
}

AcceptLoop::AcceptedConnection* AcceptLoop::find(const std::string& peer) {
  const auto named = by_peer_.find(peer);
  return named == by_peer_.end() ? nullptr : &open_.at(named->second);
}

bool AcceptLoop::count_call(const std::string& peer) {
  const std::lock_guard lock{mutex_};
  auto* connection = find(peer);
  if (!connection) return true;
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - std::exchange(connection->counted, now)).count();
  connection->calls = std::min(kCallBurst, connection->calls + seconds * kCallsPerSecond) - 1;
  if (connection->calls >= 0) return true;
  end_unread(connection->socket.get());
  return false;
}

void AcceptLoop::unauthenticated_began(const std::string& peer) {
  const std::lock_guard lock{mutex_};
  auto* connection = find(peer);
  if (!connection || connection->unauthenticated++ > 0 || !connection->is_authenticated) return;
  const auto received = received_bytes(connection->socket.get());
  if (!received) return;
  connection->bucket.begin(TokenBucket::kBurstWithSessions, *received, Clock::now());
  set_watched(*connection, true);
}

void AcceptLoop::unauthenticated_ended(const std::string& peer, bool is_authenticated) {
  const std::lock_guard lock{mutex_};
  auto* connection = find(peer);
  if (!connection && is_authenticated && peer.starts_with("unix")) authenticate_unnamed();
  if (!connection || connection->unauthenticated == 0) return;  // a later connection from the same port
  connection->is_authenticated |= is_authenticated;
  if (--connection->unauthenticated == 0 && connection->is_authenticated) set_watched(*connection, false);
}

void AcceptLoop::authenticate_unnamed() {
  for (auto& entry : open_) {
    AcceptedConnection& connection = entry.second;
    if (connection.is_named) continue;
    connection.is_authenticated = true;
    connection.ends_at.reset();  // bytes sent before its call was seen may be counted several times
    set_watched(connection, false);
  }
}

void AcceptLoop::set_watched(AcceptedConnection& connection, bool wanted) const {
  if (connection.is_watched == wanted) return;
  if (watch(connection.socket.get(), wanted ? EPOLLIN | EPOLLET : EPOLLET, false)) connection.is_watched = wanted;
}

// Bytes have arrived on a connection.
void AcceptLoop::count_received(int fd) {
  std::string peer;
  {
    const std::lock_guard lock{mutex_};
    const auto it = open_.find(fd);
    if (it == open_.end() || !it->second.is_watched) return;
    auto& connection = it->second;
    if (!connection.is_named) return count_received_unnamed(connection);
    const auto received = received_bytes(fd);
    if (!received) return set_watched(connection, false);
    const auto verdict = connection.bucket.count(*received, Clock::now());
    if (verdict == TokenBucket::Verdict::within_limit) return;
    if (!connection.is_authenticated) {
      if (verdict == TokenBucket::Verdict::far_over_limit) end_unread(fd);
      if (std::exchange(connection.ends_at, Clock::now() + kRefusalTime)) return;
    }
    peer = connection.peer;
  }
  try {
    callbacks_.limit_exceeded(peer);
  } catch (const std::exception&) {  // no memory to tell the peer
    const std::lock_guard lock{mutex_};
    if (const auto it = open_.find(fd); it != open_.end()) end_unread(fd);
  }
}

// The peer is not told why, as every other connection without a name would be told, too.
void AcceptLoop::count_received_unnamed(AcceptedConnection& connection) {
  const int fd = connection.socket.get();
  // More unread bytes than last time: perhaps nothing was read since, and only the difference is new. Otherwise
  // something was read, and all unread bytes may be new.
  const auto unread = unread_bytes(fd);
  const auto before = std::exchange(connection.unread, unread);
  connection.estimated += std::max(unread > before ? unread - before : unread, kMinArrival);
  const auto verdict = connection.bucket.count(connection.estimated, Clock::now());
  if (verdict == TokenBucket::Verdict::far_over_limit) end_unread(fd);
  if (verdict != TokenBucket::Verdict::within_limit && !connection.ends_at)
    connection.ends_at = Clock::now() + kRefusalTime;
}

void AcceptLoop::end_overdue() {
  const auto now = Clock::now();
  const std::lock_guard lock{mutex_};
  for (auto& entry : open_) {
    AcceptedConnection& connection = entry.second;
    if ((connection.ends_at && *connection.ends_at <= now) || sends_without_reading(connection))
      end_unread(entry.first);
  }
}

// HTTP/2 answers frames (pings, settings) without reporting them, and gRPC holds the answers until the peer reads them.
bool AcceptLoop::sends_without_reading(AcceptedConnection& connection) {
  if (!connection.is_named) return false;
  const auto taken = taken_bytes(connection.socket.get());
  const auto received = received_bytes(connection.socket.get());
  if (!taken || !received) return false;
  if (!taken->awaits_more || taken->taken != connection.taken) {
    connection.taken = taken->taken;
    connection.received_then = *received;
  }
  return *received - connection.received_then > kMaxBytesWhileNotReading;
}

}  // namespace burn::net
