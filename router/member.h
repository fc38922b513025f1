// A worker of a router: what it is, whether it is there, and how busy it is.
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

// What a worker says of itself when the router connects to it.
struct MemberFacts {
  std::string url;
  std::string device;         // which of the worker's: "0", or a name
  std::uint64_t op_set = 0;   // ir::op_set_fingerprint() there
  proto::SessionInfo info{};  // of sessions on that device
};

// Whether these can be the workers of the router `instance`, whose op set is `op_set`. Errors: FAILED_PRECONDITION for
// the router itself, another router, the same device twice, and workers that differ in what they take or compute; both
// are named, and both values.
Status check_members(const std::vector<MemberFacts>& members, std::string_view instance, std::uint64_t op_set);

// A link, which is a session on the worker's device "status", says whether the worker is there. Each session of a
// client has a connection of its own. Thread-safe.
class Member : public std::enable_shared_from_this<Member> {
 public:
  // `token`: the router's own, for its workers. `lease`: how long sessions of Use::fleet outlive a lost connection to
  // the worker, as long as that lends at most. `spans`: of the runs that sessions send to the worker; null: none. Does
  // not connect.
  Member(const WorkerSpec& spec, std::shared_ptr<WorkerToken> token,
         std::chrono::seconds lease = std::chrono::seconds{0}, std::shared_ptr<SpanSink> spans = nullptr);
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  const std::string& url() const { return spec_.url; }
  const std::string& name() const { return name_; }
  double weight() const { return spec_.weight; }

  // Connects the link for the first time; blocks for so long at most. Errors: net::connect()'s.
  Status connect(std::chrono::milliseconds timeout);
  // Requires: connect() was ok.
  const MemberFacts& facts() const { return facts_; }

  // What a session is for: a client's calls, which pass through and must not wait (net::ConnectOptions::never_waits),
  // or a fleet's, which has a thread of its own.
  enum class Use : std::uint8_t { pass_through, fleet };
  // A session for a client, which has facts().info at once; blocks for nothing, and keeps calls until the worker has
  // welcomed it.
  Result<std::unique_ptr<net::RemoteSession>> open_session(Use use);

  // Ok while the link is there; else UNAVAILABLE with the URL and why, or FAILED_PRECONDITION of a worker that came
  // back as another.
  Status health() const;
  // How much there is to do for another session, compared with other members: sessions, and less than one for how busy
  // the device was in the last second, by weight.
  double load() const;
  proto::MemberStats stats() const;

  // To be called about once a second by one thread: asks for the worker's stats, and connects a link that is lost
  // again.
  void look();

 private:
  net::ConnectOptions options() const;
  // Counts a session until its last copy is dropped.
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
  std::unique_ptr<net::RemoteSession> link_, next_link_;  // of the thread that calls look()
  std::atomic<std::uint64_t> sessions_ = 0;
  std::atomic<bool> is_asked_ = false;  // for its stats, and has not answered

  mutable std::mutex mutex_;
  Status lost_;                                       // why there is no link. Guarded by `mutex_`.
  proto::Usage usage_;                                // Guarded by `mutex_`.
  std::chrono::steady_clock::time_point usage_at_{};  // Guarded by `mutex_`.
  double busy_ = 0;                                   // of the last second, at most 1. Guarded by `mutex_`.
};

}  // namespace burn::router
