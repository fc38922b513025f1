#include "router/members.h"

#include <algorithm>
#include <future>
#include <utility>

#include <fmt/format.h>

#include "base/overloaded.h"

namespace burn::router {

Members::Members(std::vector<std::unique_ptr<proto::Session>> sessions, std::vector<std::string> names,
                 const compile::partition::Mesh& mesh)
    : sessions_(std::move(sessions)), names_(std::move(names)) {
  for (const auto axis : compile::partition::kMeshAxes) {
    if (mesh.size(axis) == 1) continue;
    for (int first = 0; first < count(); ++first) {
      if (mesh.rank(axis, first) != 0) continue;
      Group group;
      group.formed.group = static_cast<std::uint32_t>(compile::partition::group_of(axis));
      for (int rank = 0; rank < mesh.size(axis); ++rank) {
        group.numbers.push_back(first + rank * (axis == ir::MeshAxis::data ? mesh.model : 1));
        group.members.push_back(&session(group.numbers.back()));
      }
      groups_.push_back(std::move(group));
    }
  }
}

Status Members::send(proto::Session& session, MemberCall& call) {
  return std::visit(Overloaded{
                        [&](proto::DefineProgram& define) {
                          return session.define(define.id, std::move(define.program), std::move(define.forget));
                        },
                        [&](proto::Run& run) { return session.run(std::move(run)); },
                        [&](MemberWrite& write) { return session.write(write.id, std::move(write.tensor)); },
                        [&](proto::Release& release) { return session.release(std::move(release.ids)); },
                    },
                    call);
}

Status Members::send(std::vector<Outgoing>&& calls) {
  Status refused;
  for (auto& [member, call] : calls) {
    auto& to = session(member);
    auto status = send(to, call);
    if (status.ok()) continue;
    if (!to.health().ok()) {
      lose(member, status);
      return {};
    }
    if (refused.ok()) refused = status.with_context(name(member));
  }
  return refused;
}

Status Members::form_groups(std::chrono::milliseconds timeout) {
  ++epoch_;
  for (auto& [numbers, members, formed] : groups_) {
    formed.epoch = epoch_;
    const auto failed = proto::form_group(members, formed, timeout);
    if (!failed.why.ok()) return failed.why.with_context(fmt::format("member {}", numbers[failed.member]));
  }
  return {};
}

bool Members::groups_are_intact(std::chrono::milliseconds timeout) {
  return std::ranges::all_of(
      groups_, [&](const Group& group) { return proto::check_group(group.members, group.formed, timeout).why.ok(); });
}

std::vector<Status> Members::sync_all() {
  std::vector<std::future<Status>> answers;
  for (const auto& session : sessions_) {
    const auto promise = std::make_shared<std::promise<Status>>();
    answers.push_back(promise->get_future());
    session->sync([promise](Status status) { promise->set_value(std::move(status)); });
  }
  std::vector<Status> failures;
  for (auto& answer : answers) {
    if (auto status = answer.get(); !status.ok()) failures.push_back(std::move(status));
  }
  return failures;
}

Status Members::lost() const {
  const std::lock_guard lock{mutex_};
  return lost_;
}

void Members::lose(int member, const Status& why) {
  {
    const std::lock_guard lock{mutex_};
    if (!lost_.ok()) return;
    lost_ = Status{StatusCode::unavailable, fmt::format("worker {} is lost: {}", name(member), why.message())};
  }
  if (epoch_ == 0) return;
  for (const auto& group : groups_) {
    for (const auto other : group.numbers) {
      if (other != member) session(other).abort_group(group.formed.group, epoch_, lost());
    }
  }
}

void Members::abandon() {
  for (const auto& session : sessions_) session->close();
}

}  // namespace burn::router
