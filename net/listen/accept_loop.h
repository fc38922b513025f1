// A thread that accepts connections for a transport that takes over sockets and then reports nothing about them (gRPC).
// It counts each connection until it ends, ends connections that open too many calls or send too many bytes before they
// are authenticated, and keeps running while the process has no free descriptors.
//
// A second descriptor of each socket is kept open. It is closed when both directions are shut down, which the transport
// does at the end of a connection, whichever side ended it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>

#include "net/listen/permits.h"
#include "net/listen/token_bucket.h"
#include "net/transport/socket.h"

namespace burn::net {

class AcceptLoop {
 public:
  using Clock = std::chrono::steady_clock;

  // Limit on the calls that a connection may open: a burst, and a rate per second. Our client opens one call, a prober
  // one every few seconds.
  static constexpr double kCallBurst = 512, kCallsPerSecond = 64;
  // Bytes that a peer may send while it reads nothing of the data that waits for it.
  static constexpr std::uint64_t kMaxBytesWhileNotReading = std::uint64_t{8} << 20;

  struct Callbacks {
    std::function<void(UniqueFd socket)> accepted;  // the socket is non-blocking; called on the loop's thread
    std::function<void()> tick;                     // called about once a second, on the loop's thread
    // Unauthenticated calls on this peer's connection have sent more bytes than allowed. If none of its calls is
    // authenticated, the connection is ended a second later. Called on the loop's thread.
    std::function<void(const std::string& peer)> limit_exceeded;
  };

  // Errors: UNAVAILABLE when epoll or an eventfd cannot be created, or the thread cannot be started.
  static Result<std::unique_ptr<AcceptLoop>> start(UniqueFd listening, std::shared_ptr<PermitPool> permits,
                                                   Callbacks callbacks);
  ~AcceptLoop();  // stop()
  AcceptLoop(const AcceptLoop&) = delete;
  AcceptLoop& operator=(const AcceptLoop&) = delete;

  // Stops accepting and waits for the thread. Sockets that were handed to the transport stay open.
  void stop();
  // Counts a call from this peer ("127.0.0.1:40312", which names its connection). Returns false if the connection has
  // opened too many calls; it is then being ended. Calls of peers without a name (unix sockets) are not counted.
  // Thread-safe.
  bool count_call(const std::string& peer);
  // Counts calls that are not authenticated yet. The bytes received on a connection are counted (token_bucket.h) until
  // one of its calls is authenticated, and after that only while it has unauthenticated calls. Each call of
  // unauthenticated_began() is followed by one of unauthenticated_ended(); `is_authenticated`: the call was
  // authenticated. Thread-safe.
  // Peers on unix sockets have no names, and the system does not count their bytes. So bytes are estimated: when bytes
  // arrive, all unread bytes count as new, unless there are more of them than before, when only the difference counts.
  // A connection that exceeds its bucket is ended a second later. An authenticated call on a unix socket may belong to
  // any of these connections, so from then on none of them is counted, or ended for what was counted before.
  void unauthenticated_began(const std::string& peer);
  void unauthenticated_ended(const std::string& peer, bool is_authenticated);

 private:
  struct AcceptedConnection {
    UniqueFd socket;  // our descriptor; the transport has the other
    Permit permit;
    std::string peer;
    double calls = kCallBurst;  // calls that could still be opened at the time `counted`
    Clock::time_point counted;
    TokenBucket bucket;
    int unauthenticated = 0;  // unauthenticated calls that are open
    bool is_authenticated = false;
    bool is_watched = true;
    bool is_named = true;
    std::uint64_t estimated = 0;      // connections without a name: estimated bytes received
    std::uint64_t unread = 0;         // the same: unread bytes at the last check
    std::uint64_t taken = 0;          // our bytes that the peer had acknowledged at the last check
    std::uint64_t received_then = 0;  // bytes received from the peer when `taken` last changed
    std::optional<Clock::time_point> ends_at;
  };

  AcceptLoop(UniqueFd listening, UniqueFd poll, UniqueFd wake_event, std::shared_ptr<PermitPool> permits,
             Callbacks callbacks);

  void run();
  void accept_all();
  void serve(UniqueFd client);
  void keep(UniqueFd ours, Permit permit, const std::string& peer);
  void forget(int fd);
  bool watch(int fd, unsigned events, bool is_new = true) const;  // `is_new`: `fd` is not watched yet
  void count_received(int fd);
  void count_received_unnamed(AcceptedConnection& connection);  // Requires: the lock.
  void end_overdue();
  static bool sends_without_reading(AcceptedConnection& connection);
  // Require the lock:
  AcceptedConnection* find(const std::string& peer);
  void set_watched(AcceptedConnection& connection, bool wanted) const;
  void authenticate_unnamed();
  void listen(bool wanted);

  const UniqueFd listening_, poll_, wake_event_;
  const std::shared_ptr<PermitPool> permits_;
  const Callbacks callbacks_;
  Clock::time_point paused_until_{};  // used by the loop's thread only

  std::mutex mutex_;
  std::unordered_map<int, AcceptedConnection> open_;  // by AcceptedConnection::socket
  std::unordered_map<std::string, int> by_peer_;      // descriptors of the connections whose peer has a name
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace burn::net
