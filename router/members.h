// The sessions on the workers of a fleet, as one session of the router uses them.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "proto/group_forming.h"
#include "proto/session.h"
#include "router/core/outbox.h"

namespace burn::router {

// Calls come from one thread, but for lost() and abandon().
class Members {
 public:
  Members(std::vector<std::unique_ptr<proto::Session>> sessions, std::vector<std::string> names);

  int count() const { return static_cast<int>(sessions_.size()); }
  proto::Session& session(int member) { return *sessions_[static_cast<std::size_t>(member)]; }
  const std::string& name(int member) const { return names_[static_cast<std::size_t>(member)]; }

  // Each member gets its calls in order. A member that takes one no more is lost. Errors: what a member first refused,
  // with its name; it goes on.
  Status send(std::vector<Outgoing>&& calls);
  // Makes all members one group (ir/ops/collectives.h), in which they can run collectives, instead of one that they
  // were before. Errors: what a member said, or DEADLINE_EXCEEDED, with its rank.
  Status form_group(std::chrono::milliseconds timeout);
  // Whether every member says that the group stands: a run that could not be done has ended it.
  bool group_stands(std::chrono::milliseconds timeout);
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
  std::vector<proto::Session*> members_;  // the sessions
  proto::FormedGroup group_;
  std::atomic<std::uint64_t> epoch_ = 0;  // group_'s; 0: there was none yet
  mutable std::mutex mutex_;
  Status lost_;
};

}  // namespace burn::router
