// A worker of a router: its properties, whether it is connected, and its load.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "net/remote/remote_session.h"
#include "router/worker_spec.h"
#include "router/worker_token.h"

namespace burn::router {

// What a worker reports about itself when the router connects to it.
struct MemberFacts {
  std::string url;
  std::string device;         // which device of the worker: "0", or a name
  std::uint64_t op_set = 0;   // ir::op_set_fingerprint() of the worker
  proto::SessionInfo info{};  // for sessions on that device
};

// Checks whether these can be the workers of the router `instance`, whose op set is `op_set`. Errors:
// FAILED_PRECONDITION for the router itself, another router, the same device twice, and workers that differ in what
// they accept or compute; the message names both workers and both values.
Status check_members(const std::vector<MemberFacts>& members, std::string_view instance, std::uint64_t op_set);

// The link, a session on the worker's device "status", shows whether the worker is reachable. Each client session has
// its own connection. Thread-safe.
class Member : public std::enable_shared_from_this<Member> {
 public:
  // `token`: authenticates the router to its workers. `lease`: how long sessions of Use::fleet outlive a lost
  // connection to the worker; the worker may limit it. `spans`: receives spans of runs that sessions send to the
  // worker; null: none. Does not connect.
  Member(const WorkerSpec& spec, std::shared_ptr<WorkerToken> token,
         std::chrono::seconds lease = std::chrono::seconds{0}, std::shared_ptr<SpanSink> spans = nullptr);
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  const std::string& url() const { return spec_.url; }
  const std::string& name() const { return name_; }
  double weight() const { return spec_.weight; }

  // Connects the link for the first time; blocks for `timeout` at most. Errors: those of net::connect().
  Status connect(std::chrono::milliseconds timeout);
  // Requires: connect() was ok.
  const MemberFacts& facts() const { return facts_; }

  // The use of a session: a client's calls, which pass through and must not wait (net::ConnectOptions::never_waits), or
  // a fleet's calls, which have their own thread.
  enum class Use : std::uint8_t { pass_through, fleet };
  // Opens a session for a client. facts().info is its info from the start. Never blocks: calls are queued until the
  // worker has sent its welcome.
  Result<std::unique_ptr<net::RemoteSession>> open_session(Use use);

  // Ok while the link is connected; otherwise UNAVAILABLE with the URL and the reason, or FAILED_PRECONDITION if the
  // worker came back with different properties.
  Status health() const;
  // The load, for comparing members: the number of sessions, plus a fraction below one for how busy the device was in
  // the last second, divided by the weight.
  double load() const;
  proto::MemberStats stats() const;

  // Asks for the worker's stats, and reconnects a lost link. To be called about once a second by one thread.
  void poll();

 private:
  net::ConnectOptions options() const;
  // Counts a session until the last copy of the result is dropped.
  std::shared_ptr<const void> count_session();
  void listen(net::RemoteSession& session);
  void on_end(const Status& why);
  void on_stats(const proto::SessionStats& stats);
  void reconnect();

  const WorkerSpec spec_;
  const std::string name_;
  const std::shared_ptr<WorkerToken> token_;
  const std::chrono::seconds lease_;
  const std::shared_ptr<SpanSink> spans_;
  MemberFacts facts_;                                     // set by connect()
  std::unique_ptr<net::RemoteSession> link_, next_link_;  // used only by the thread that calls poll()
  std::atomic<std::uint64_t> sessions_ = 0;
  std::atomic<bool> is_asked_ = false;  // a request for stats is pending

  mutable std::mutex mutex_;
  Status lost_;                                       // why the link is down; ok: connected. Guarded by `mutex_`.
  proto::Usage usage_;                                // Guarded by `mutex_`.
  std::chrono::steady_clock::time_point usage_at_{};  // Guarded by `mutex_`.
  double busy_ = 0;                                   // fraction of the last second. Guarded by `mutex_`.
};

}  // namespace burn::router
