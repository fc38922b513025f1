// The sessions on the workers of a fleet, used by one session of the router.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "compile/partition/layout.h"
#include "proto/group_forming.h"
#include "proto/session.h"
#include "router/core/outbox.h"

namespace burn::router {

// All functions are called from one thread, except lost(), lose() and abandon().
class Members {
 public:
  // Requires: as many sessions and names as the mesh has members.
  Members(std::vector<std::unique_ptr<proto::Session>> sessions, std::vector<std::string> names,
          const compile::partition::Mesh& mesh);

  int count() const { return static_cast<int>(sessions_.size()); }
  proto::Session& session(int member) { return *sessions_[static_cast<std::size_t>(member)]; }
  const std::string& name(int member) const { return names_[static_cast<std::size_t>(member)]; }

  // Sends the calls to each member, in order. A member whose session has ended is lost, and nothing more is sent.
  // Errors: the first refusal by a member, with its name; the other calls are still sent.
  Status send(std::vector<Outgoing>&& calls);
  // Forms the members into groups that can run collectives (ir/ops/collectives.h), one for each row and column of the
  // mesh, replacing the previous groups. Errors: a member's error or DEADLINE_EXCEEDED, with the member's number.
  Status form_groups(std::chrono::milliseconds timeout);
  // True if every member confirms that its groups are intact; a run that failed completely has ended them.
  bool groups_are_intact(std::chrono::milliseconds timeout);
  // Waits until every member has finished its calls. Returns the failures that members have not reported before.
  std::vector<Status> sync_all();

  // Why the session has ended: a worker is lost. Ok if all are connected.
  Status lost() const;
  // Marks a member as lost and aborts the collectives that the others perform with it. May be called from any thread.
  void lose(int member, const Status& why);
  // Closes all sessions; their current calls are cancelled. May be called from any thread.
  void abandon();

 private:
  Status send(proto::Session& session, MemberCall& call);

  const std::vector<std::unique_ptr<proto::Session>> sessions_;
  const std::vector<std::string> names_;
  struct Group {
    std::vector<int> numbers;  // of its members in the mesh, by rank
    std::vector<proto::Session*> members;
    proto::FormedGroup formed;
  };
  std::vector<Group> groups_;
  std::atomic<std::uint64_t> epoch_ = 0;  // of the groups; 0: not formed yet
  mutable std::mutex mutex_;
  Status lost_;
};

}  // namespace burn::router
