// The groups that a session is in: formed by its coordinator, beside the order of its calls, and ended by it, by the
// session, or by any member.
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

// Thread-safe. Forming a group takes a thread of its own until the group stands.
class SessionGroups final : public backends::Groups {
 public:
  static constexpr std::size_t kMaxGroups = 16;  // of a session: for each axis of its mesh, and with each other device
  static constexpr std::size_t kMaxForming = 8;  // threads that form groups, also of epochs that are over

  // `backend` outlives the groups; `host`: the address in digits at which other members reach this process; `session`:
  // of the CallbackScope of callbacks. `counters`, which outlives them, gets the time of collectives that the host
  // performs.
  SessionGroups(backends::Backend& backend, std::string host, const void* session, CollectiveCounters& counters)
      : backend_(backend), host_(std::move(host)), session_(session), counters_(counters) {}
  ~SessionGroups() override { close(); }

  // proto::Session's; open() calls back from its thread.
  void prepare(const proto::GroupPlace& place, const proto::Session::AddressCallback& done);
  void open(const proto::GroupPlace& place, std::vector<std::string> addresses, std::chrono::milliseconds deadline,
            const proto::Session::SyncCallback& done);
  void abort(std::uint32_t group, std::uint64_t epoch, const Status& why);

  // Of collectives that the host performs, so far, with what was waited for the other members.
  std::chrono::nanoseconds collective_time() const {
    return std::chrono::nanoseconds{time_->load(std::memory_order_relaxed)};
  }
  // Null: no such group stands.
  std::shared_ptr<backends::Collective> find(std::int64_t group) const override;
  // A run with collectives of these groups has ended early, or was refused: the other members are not to wait for it.
  void run_failed(std::int64_t group, const Status& why);
  void any_run_failed(const Status& why);  // of a program that is not known: of all groups

  // The session ends: what waits in a collective fails, nothing is formed any more. Waits for nothing.
  void leave();
  // Also waits until every callback has returned. Idempotent.
  void close();

 private:
  struct Group {
    proto::GroupPlace place;
    std::shared_ptr<backends::Rendezvous> rendezvous;  // until it stands
    std::shared_ptr<backends::Collective> links;       // between the members that have met, until it stands
    std::string address;
    bool is_forming = false;
    std::vector<proto::Session::SyncCallback> waiting;  // for it to be formed
    std::shared_ptr<backends::Collective> collective;   // once it stands
    Status failed;                                      // why it was not formed, or ended before
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
  std::uint64_t epoch_ = 0;  // the highest that was heard of
  std::size_t forming_ = 0;  // threads
  bool has_left_ = false;
};

}  // namespace burn::session
