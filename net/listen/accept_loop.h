// A thread that accepts connections for a transport which takes sockets over and says no more of them (gRPC): it counts
// them until they are over, ends those that open calls without end or send much before they are authenticated, and goes
// on when there are no descriptors for a while.
//
// A second descriptor of each socket is kept, and closed when both directions are shut down: the transport does that at
// the end of a connection, whichever side ended it.
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

  // Calls that a connection may open: so many at once, and so many more each second. A client of ours opens one, a
  // prober one every few seconds.
  static constexpr double kCallBurst = 512, kCallsPerSecond = 64;
  // Bytes that a peer may send while it takes nothing of what there is for it.
  static constexpr std::uint64_t kMaxWhilePeerTakesNothing = std::uint64_t{8} << 20;

  struct Callbacks {
    std::function<void(UniqueFd socket)> accepted;  // non-blocking; on the loop's thread
    std::function<void()> tick;                     // about once a second, on the loop's thread
    // Unauthenticated calls on the connection of this peer have sent more than they may. If none of its calls is
    // authenticated, the connection is ended a second later. On the loop's thread.
    std::function<void(const std::string& peer)> too_much;
  };

  // Errors: UNAVAILABLE when the system has nothing to wait with, or no thread.
  static Result<std::unique_ptr<AcceptLoop>> start(UniqueFd listening, std::shared_ptr<PermitPool> permits,
                                                   Callbacks callbacks);
  ~AcceptLoop();  // stop()
  AcceptLoop(const AcceptLoop&) = delete;
  AcceptLoop& operator=(const AcceptLoop&) = delete;

  // Waits for the thread; nothing is accepted any more. Sockets that were handed on live on.
  void stop();
  // A call has come from this peer ("127.0.0.1:40312", which names its connection). False: it has opened too many, and
  // its connection is being ended. Of peers without a name, as those of unix sockets, calls are not counted.
  // Thread-safe.
  bool count_call(const std::string& peer);
  // The same for calls that are not authenticated yet. What comes on a connection is counted (token_bucket.h) until one
  // of its calls is authenticated, and later while it has unauthenticated ones as well. Each call of
  // unauthenticated_began() is followed by one of unauthenticated_ended(); `is_authenticated`: the call has become
  // authenticated. Thread-safe.
  // Peers on unix sockets have no names, and the system does not count: when bytes come, those that lie there are taken
  // for new unless there are only more than before, and a connection that exceeds its bucket is ended a second later.
  // When a call there becomes authenticated it may be on any of these connections: none of them is counted any more, or
  // ended for what was counted before.
  void unauthenticated_began(const std::string& peer);
  void unauthenticated_ended(const std::string& peer, bool is_authenticated);

 private:
  struct AcceptedConnection {
    UniqueFd socket;  // ours, of two
    Permit permit;
    std::string peer;
    double calls = kCallBurst;  // that may still be opened, at `counted`
    Clock::time_point counted;
    TokenBucket bucket;
    int unauthenticated = 0;  // calls
    bool is_authenticated = false;
    bool is_watched = true;
    bool is_named = true;
    std::uint64_t estimated = 0;      // bytes, of one without a name,
    std::uint64_t unread = 0;         // and what lay there when they were last looked at
    std::uint64_t taken = 0;          // bytes of ours, when we last looked,
    std::uint64_t received_then = 0;  // and bytes of the peer's when that last changed
    std::optional<Clock::time_point> ends_at;
  };

  AcceptLoop(UniqueFd listening, UniqueFd poll, UniqueFd wake_event, std::shared_ptr<PermitPool> permits,
             Callbacks callbacks);

  void run();
  void accept_all();
  void serve(UniqueFd client);
  void keep(UniqueFd ours, Permit permit, const std::string& peer);
  void forget(int fd);
  bool watch(int fd, unsigned events, bool is_new = true) const;  // `is_new`: it is not watched yet
  void look_at(int fd);
  void look_at_nameless(AcceptedConnection& connection);  // Requires: the lock.
  void end_overdue();
  static bool only_sends(AcceptedConnection& connection);
  // Require the lock:
  AcceptedConnection* find(const std::string& peer);
  void set_watched(AcceptedConnection& connection, bool wanted) const;
  void authenticate_nameless();
  void listen(bool wanted);

  const UniqueFd listening_, poll_, wake_event_;
  const std::shared_ptr<PermitPool> permits_;
  const Callbacks callbacks_;
  Clock::time_point paused_until_{};  // of the thread

  std::mutex mutex_;
  std::unordered_map<int, AcceptedConnection> open_;  // by our descriptor
  std::unordered_map<std::string, int> by_peer_;      // those whose peer names them
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace burn::net
