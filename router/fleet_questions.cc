// Reads, syncs and stats of a client of a fleet: combines the answers of its members.
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "router/core/parts.h"
#include "router/fleet_performer.h"
#include "serving/callback_scope.h"

namespace burn::router {
namespace {

using proto::HostTensor;

constexpr int kRouter = -1;  // in place of a member's number

// Collects the answers of several members to a question.
template <typename Answer>
struct Gathered {
  explicit Gathered(std::size_t members) : answers(members), left(members) {}
  std::vector<std::optional<Answer>> answers;
  std::atomic<std::size_t> left;
  // Stores an answer; returns true if it was the last one.
  bool take(std::size_t member, Answer answer) {
    answers[member].emplace(std::move(answer));
    return --left == 0;
  }
};

}  // namespace

// Reports the stats of the member with the most memory in use, because it reaches its limit first; among equal ones,
// the session's home.
void FleetPerformer::ask_stats(const proto::Session::StatsCallback& done) {
  using Answer = Result<proto::SessionStats>;
  const auto count = static_cast<std::size_t>(members_.count());
  const auto home = static_cast<std::size_t>(home_);
  const auto gathered = std::make_shared<Gathered<Answer>>(count);
  const auto answer = [done, gathered, home, own = stats()] {
    const auto& answers = gathered->answers;
    for (const auto& one : answers) {
      if (!one->ok()) return done(one->status());
    }
    const auto used = [&](std::size_t member) { return (**answers[member]).session.memory_in_use; };
    std::size_t fullest = home;
    for (std::size_t k = 0; k < answers.size(); ++k) {
      if (used(k) > used(fullest)) fullest = k;
    }
    auto stats = **answers[fullest];
    stats.programs = own.programs;
    stats.session.runs = own.session.runs;
    stats.session.host_bytes += own.session.host_bytes;
    stats.session.memory_reserved += own.session.memory_reserved;
    done(std::move(stats));
  };
  for (std::size_t k = 0; k < count; ++k) {
    members_.session(static_cast<int>(k)).stats([gathered, answer, k](Answer stats) {
      if (gathered->take(k, std::move(stats))) answer();
    });
  }
}

void FleetPerformer::answer_read(std::uint64_t question, const proto::Session::ReadCallback& done,
                                 Result<HostTensor> result, std::vector<int> reported_by) {
  answers_.deliver(question, [this, done, result = std::move(result), reported_by = std::move(reported_by)]() mutable {
    const serving::CallbackScope scope{static_cast<const CallPerformer*>(this)};
    if (!result.ok()) reported_.push_back({std::string{result.status().message()}, std::move(reported_by)});
    done(std::move(result));
  });
}

void FleetPerformer::read(serving::ReadCall& call) {
  const auto question = answers_.add_question();
  auto plan = core_.read(call.id);
  if (plan.poisoned) {
    refused_.forget(plan.poisoned);
    return answer_read(question, call.done, *plan.poisoned);
  }
  if (plan.members.size() == 1) {
    const auto member = plan.members.front();
    members_.session(member).read(call.id, [this, question, done = call.done, member](Result<HostTensor> result) {
      if (!result.ok()) result = answer_of(result.status());
      answer_read(question, done, std::move(result), {member});
    });
    return;
  }
  const auto parts = std::make_shared<Gathered<Result<HostTensor>>>(plan.members.size());
  const auto whole = std::make_shared<const ReadPlan>(std::move(plan));
  for (std::size_t i = 0; i < whole->members.size(); ++i) {
    members_.session(whole->members[i])
        .read(call.id, [this, question, done = call.done, parts, whole, i](Result<HostTensor> part) {
          if (!parts->take(i, std::move(part))) return;
          std::vector<HostTensor> all;
          std::optional<Status> failed;
          std::vector<int> failed_on;
          for (std::size_t m = 0; m < whole->members.size(); ++m) {
            auto& answer = *parts->answers[m];
            if (answer.ok()) {
              all.push_back(*std::move(answer));
              continue;
            }
            if (!failed) failed = answer_of(answer.status());
            failed_on.push_back(whole->members[m]);
          }
          if (failed) return answer_read(question, done, *std::move(failed), std::move(failed_on));
          answer_read(question, done, joined(all, whole->type, whole->layout));
        });
  }
}

// Replicated values must be equal on all members, or training diverges. A difference is reported by the next sync.
void FleetPerformer::check_replicas(const proto::Run& run) {
  for (const auto id : core_.replicas(run)) {
    const auto question = answers_.add_question();
    const auto all = std::make_shared<Gathered<Result<HostTensor>>>(static_cast<std::size_t>(members_.count()));
    for (int member = 0; member < members_.count(); ++member) {
      members_.session(member).read(id, [this, question, id, all, member, program = run.program,
                                         call = calls_](Result<HostTensor> value) {
        if (!all->take(static_cast<std::size_t>(member), std::move(value))) return;
        for (std::size_t m = 1; m < all->answers.size(); ++m) {
          const auto &first = *all->answers[0], &other = *all->answers[m];
          if (!first.ok() || !other.ok() || std::ranges::equal(first->bytes.span(), other->bytes.span())) continue;
          refused_.add(
              call, std::make_shared<const Status>(internal_error(fmt::format(
                        "BURN_CHECK_REPLICAS: tensor {} ({}) of program {} differs on {} and {}", id,
                        ir::to_string(first->type), program, members_.name(0), members_.name(static_cast<int>(m))))));
        }
        answers_.deliver(question, [] {});
      });
    }
  }
}

// The failure to report to the client. If a worker is lost, returns that, because other members may report its
// consequences before the lost worker's own session ends.
Status FleetPerformer::answer_of(const Status& status) {
  if (status.ok()) return status;
  has_failed_ = true;
  for (int member = 0; member < members_.count(); ++member) {
    if (auto health = members_.session(member).health(); !health.ok()) members_.lose(member, health);
  }
  const auto lost = members_.lost();
  return lost.ok() ? core_.names().with_client_ids(status) : lost;
}

// Reports the first failure that no read has reported: the router's own, or the one of the first member that has one.
void FleetPerformer::sync(serving::SyncCall& call) {
  const auto question = answers_.add_question();
  if (const auto own = refused_.take(calls_)) unreported_.insert(unreported_.begin(), *own);
  const auto unreported = std::make_shared<const std::vector<Status>>(std::exchange(unreported_, {}));
  const auto all = std::make_shared<Gathered<Status>>(static_cast<std::size_t>(members_.count()));
  for (int member = 0; member < members_.count(); ++member) {
    members_.session(member).sync([this, question, done = call.done, unreported, all, member](Status status) {
      if (!all->take(static_cast<std::size_t>(member), std::move(status))) return;
      answers_.deliver(question, [this, done, unreported, all] {
        const serving::CallbackScope scope{static_cast<const CallPerformer*>(this)};
        const auto reported = std::exchange(reported_, {});
        Status first;
        // A member reports a failure only once: if the same member sends the same text again, it is a new failure.
        const auto is_known = [&](const Status& failure, int member) {
          bool is_told = false;
          for (const auto& [message, reported_by] : reported) {
            if (message != failure.message()) continue;
            if (std::ranges::find(reported_by, member) != reported_by.end()) return false;
            is_told = true;
          }
          return is_told;
        };
        const auto tell = [&](const Status& failure, int member) {
          if (!first.ok()) return;
          auto status = answer_of(failure);
          if (!is_known(status, member)) first = std::move(status);
        };
        for (const auto& failure : *unreported) tell(failure, kRouter);
        for (std::size_t k = 0; k < all->answers.size(); ++k) tell(*all->answers[k], static_cast<int>(k));
        done(std::move(first));
      });
    });
  }
}

}  // namespace burn::router
