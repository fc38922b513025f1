// The sessions on the workers of a fleet, as one session of the router uses them.
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

// Calls come from one thread, but for lost() and abandon().
class Members {
 public:
  // Requires: as many sessions and names as the mesh has members.
  Members(std::vector<std::unique_ptr<proto::Session>> sessions, std::vector<std::string> names,
          const compile::partition::Mesh& mesh);

  int count() const { return static_cast<int>(sessions_.size()); }
  proto::Session& session(int member) { return *sessions_[static_cast<std::size_t>(member)]; }
  const std::string& name(int member) const { return names_[static_cast<std::size_t>(member)]; }

  // Each member gets its calls in order. A member that takes one no more is lost. Errors: what a member first refused,
  // with its name; it goes on.
  Status send(std::vector<Outgoing>&& calls);
  // Makes the members groups (ir/ops/collectives.h), in which they can run collectives, one for each row and column of
  // the mesh, instead of those that they were before. Errors: what a member said, or DEADLINE_EXCEEDED, with its
  // number.
  Status form_groups(std::chrono::milliseconds timeout);
  // Whether every member says that its groups stand: a run that could not be done has ended them.
  bool groups_stand(std::chrono::milliseconds timeout);
  // Waits until every member has done what it was told. The failures that they have not told of before.
  std::vector<Status> settle();

  // Why there is no session any more: a worker is gone. Ok: all are there.
  Status lost() const;
  // From any thread: the others give up what they do together with it.
  void lose(int member, const Status& why);
  // From any thread: everything ends; what the members are at is cancelled.
  void abandon();

 private:
  Status send(proto::Session& session, MemberCall& call);

  const std::vector<std::unique_ptr<proto::Session>> sessions_;
  const std::vector<std::string> names_;
  struct Group {
    std::vector<int> numbers;  // of its members, by rank
    std::vector<proto::Session*> members;
    proto::FormedGroup formed;
  };
  std::vector<Group> groups_;
  std::atomic<std::uint64_t> epoch_ = 0;  // of the groups; 0: there were none yet
  mutable std::mutex mutex_;
  Status lost_;
};

}  // namespace burn::router
