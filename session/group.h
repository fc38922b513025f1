// The groups of a session: formed by its coordinator, outside the order of its calls, and ended by the coordinator, by
// the session, or by any member.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/collective/collective.h"
#include "backends/collective/rendezvous.h"
#include "proto/session.h"
#include "session/collective_counters.h"

namespace burn::session {

// Thread-safe. Each group is formed on its own thread, which then ends.
class SessionGroups final : public backends::Groups {
 public:
  static constexpr std::size_t kMaxGroups = 16;  // of a session: one per mesh axis, and one with each other device
  static constexpr std::size_t kMaxForming = 8;  // threads that form groups, including those of past epochs

  // `backend` and `counters` must outlive the groups. `host`: the numeric address at which other members reach this
  // process; `session`: for the CallbackScope of callbacks; `counters`: counts the time of collectives that the host
  // performs.
  SessionGroups(backends::Backend& backend, std::string host, const void* session, CollectiveCounters& counters)
      : backend_(backend), host_(std::move(host)), session_(session), counters_(counters) {}
  ~SessionGroups() override { close(); }

  // See proto::Session; the callback of open() is called on the group's thread.
  void prepare(const proto::GroupPlace& place, const proto::Session::AddressCallback& done);
  void open(const proto::GroupPlace& place, std::vector<std::string> addresses, std::chrono::milliseconds deadline,
            const proto::Session::SyncCallback& done);
  void abort(std::uint32_t group, std::uint64_t epoch, const Status& why);

  // Time of collectives that the host performed so far, including waiting for other members.
  std::chrono::nanoseconds collective_time() const {
    return std::chrono::nanoseconds{time_->load(std::memory_order_relaxed)};
  }
  // Null if there is no such group, or it is not formed.
  std::shared_ptr<backends::Collective> find(std::int64_t group) const override;
  // Aborts the group of a run that has ended early or was refused, so that the other members do not wait for it.
  void run_failed(std::int64_t group, const Status& why);
  void any_run_failed(const Status& why);  // for a run of an unknown program: aborts all groups

  // The session ends: waiting collectives fail, and no groups are formed any more. Does not block.
  void leave();
  // Also waits until every callback has returned. Idempotent.
  void close();

 private:
  struct Group {
    proto::GroupPlace place;
    std::shared_ptr<backends::Rendezvous> rendezvous;  // until the group is formed
    std::shared_ptr<backends::Collective> links;       // between the connected members, until the group is formed
    std::string address;
    bool is_forming = false;
    std::vector<proto::Session::SyncCallback> waiting;  // callbacks of open()
    std::shared_ptr<backends::Collective> collective;   // once the group is formed
    Status failed;                                      // why it was not formed, or has ended
  };

  Status check(const proto::GroupPlace& place) const;
  Result<std::string> prepare_locked(const proto::GroupPlace& place);
  void form(const std::shared_ptr<Group>& group, const std::vector<std::string>& addresses,
            std::chrono::milliseconds deadline);
  static void end(Group& group, const Status& why);

  backends::Backend& backend_;
  const std::string host_;
  const void* const session_;
  CollectiveCounters& counters_;
  const std::shared_ptr<CollectiveTime> time_ = std::make_shared<CollectiveTime>(0);
  mutable std::mutex mutex_;
  std::condition_variable formed_;
  std::map<std::uint32_t, std::shared_ptr<Group>> groups_;
  std::uint64_t epoch_ = 0;  // the highest epoch so far
  std::size_t forming_ = 0;  // threads
  bool has_left_ = false;
};

}  // namespace burn::session
