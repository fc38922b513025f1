#include "session/group.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "backends/collective/direct_collective.h"
#include "base/thread.h"
#include "serving/callback_scope.h"
#include "serving/guarded.h"

namespace burn::session {
namespace {

constexpr std::size_t kMaxWaiting = 16;  // callbacks for one group: a coordinator asks again after a lost connection

Status ended() { return cancelled("the session is closed"); }

}  // namespace

Status SessionGroups::check(const proto::GroupPlace& place) const {
  if (place.size == 0 || place.size > proto::kMaxGroupMembers) {
    return invalid_argument(
        fmt::format("a group of {} members; it may have 1 to {}", place.size, proto::kMaxGroupMembers));
  }
  if (place.rank >= place.size)
    return invalid_argument(fmt::format("rank {} in a group of {} members", place.rank, place.size));
  if (place.ticket.size() != proto::kTicketBytes) {
    return invalid_argument(fmt::format("a ticket of {} bytes; one has {}", place.ticket.size(), proto::kTicketBytes));
  }
  if (has_left_) return ended();
  if (place.epoch < epoch_)
    return failed_precondition(fmt::format("epoch {} is over: this session is in epoch {}", place.epoch, epoch_));
  return {};
}

void SessionGroups::end(Group& group, const Status& why) {
  if (group.failed.ok()) group.failed = why;
  if (group.rendezvous) group.rendezvous->stop(why);
  if (group.links) group.links->abort(why);
  if (group.collective) group.collective->abort(why);
}

// --- forming ---------------------------------------------------------------------------------------------------------

void SessionGroups::prepare(const proto::GroupPlace& place, const proto::Session::AddressCallback& done) {
  auto address = [&] {
    const std::lock_guard lock{mutex_};
    return prepare_locked(place);
  }();
  const serving::CallbackScope scope{session_};
  done(std::move(address));
}

Result<std::string> SessionGroups::prepare_locked(const proto::GroupPlace& place) {
  BURN_RETURN_IF_ERROR(check(place));
  if (const auto known = groups_.find(place.group);
      known != groups_.end() && known->second->place.epoch == place.epoch) {
    if (known->second->place != place)
      return failed_precondition(
          fmt::format("group {} is prepared with another place in epoch {}", place.group, place.epoch));
    return known->second->address;
  }
  if (place.epoch > epoch_) {
    const auto over = failed_precondition(fmt::format("epoch {} is over: epoch {} has begun", epoch_, place.epoch));
    for (auto& [number, group] : groups_) end(*group, over);
    groups_.clear();
    epoch_ = place.epoch;
  }
  if (groups_.size() >= kMaxGroups) {  // some may have ended
    std::erase_if(groups_, [](const auto& known) {
      const auto& [number, group] = known;
      const bool has_ended = !group->failed.ok() || (group->collective && !group->collective->health().ok());
      return has_ended && !group->is_forming;
    });
  }
  if (groups_.size() >= kMaxGroups)
    return resource_exhausted(fmt::format("a session may be in {} groups at a time", kMaxGroups));
  auto group = std::make_shared<Group>();
  BURN_TRY(group->rendezvous, backends::Rendezvous::listen(host_, place.ticket, static_cast<int>(place.rank),
                                                           static_cast<int>(place.size)));
  group->place = place;
  group->address = group->rendezvous->address();
  groups_.emplace(place.group, group);
  return group->address;
}

void SessionGroups::open(const proto::GroupPlace& place, std::vector<std::string> addresses,
                         std::chrono::milliseconds deadline, const proto::Session::SyncCallback& done) {
  const auto begin = [&]() -> Result<bool> {  // true: the group is already formed
    const std::lock_guard lock{mutex_};
    BURN_RETURN_IF_ERROR(check(place));
    if (addresses.size() != place.size)
      return invalid_argument(fmt::format("{} addresses for {} members", addresses.size(), place.size));
    const auto found = groups_.find(place.group);
    if (found == groups_.end() || found->second->place != place)
      return failed_precondition(
          fmt::format("group {} is not prepared with this place in epoch {}", place.group, place.epoch));
    const auto& group = found->second;
    BURN_RETURN_IF_ERROR(group->failed);
    if (group->collective) {
      BURN_RETURN_IF_ERROR(group->collective->health());
      return true;
    }
    if (group->waiting.size() >= kMaxWaiting || (!group->is_forming && forming_ >= kMaxForming))
      return resource_exhausted(fmt::format("{} groups are being formed", forming_));
    group->waiting.push_back(done);
    if (group->is_forming) return false;
    try {
      start_thread("burn-group", [this, group, addresses = std::move(addresses), deadline] {
        form(group, addresses,
             std::clamp(deadline, std::chrono::milliseconds{0}, std::chrono::milliseconds{proto::kMaxGroupDeadline}));
      }).detach();  // close() waits for it
    } catch (const std::system_error& failure) {
      group->waiting.pop_back();
      return resource_exhausted(fmt::format("no thread to be had for a group: {}", failure.what()));
    }
    group->is_forming = true;
    ++forming_;
    return false;
  }();
  if (begin.ok() && !*begin) return;
  const serving::CallbackScope scope{session_};
  done(begin.status());
}

void SessionGroups::form(const std::shared_ptr<Group>& group, const std::vector<std::string>& addresses,
                         std::chrono::milliseconds deadline) {
  using std::chrono::steady_clock;
  const auto start = steady_clock::now();
  auto status = serving::guarded([&]() -> Status {
    BURN_TRY(auto links, group->rendezvous->meet(addresses, deadline));
    {
      const std::lock_guard lock{mutex_};
      group->links = backends::make_direct_collective(std::move(links));
      BURN_RETURN_IF_ERROR(group->failed);
    }
    const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - start);
    BURN_TRY(auto collective, backend_.join_group(group->links, deadline - std::min(spent, deadline)));
    const std::lock_guard lock{mutex_};
    BURN_RETURN_IF_ERROR(group->failed);
    const bool is_of_host = collective == group->links;
    group->collective = is_of_host ? make_timed(std::move(collective), counters_, time_) : std::move(collective);
    return {};
  });
  std::vector<proto::Session::SyncCallback> waiting;
  {
    const std::lock_guard lock{mutex_};
    group->rendezvous.reset();
    group->links.reset();
    group->is_forming = false;
    if (!status.ok() && group->failed.ok()) group->failed = status;
    if (!group->failed.ok()) status = group->failed;
    waiting.swap(group->waiting);
  }
  for (const auto& done : waiting) {
    const serving::CallbackScope scope{session_};
    (void)serving::guarded([&]() -> Status {
      done(status);
      return {};
    });
  }
  const std::lock_guard lock{mutex_};
  --forming_;
  formed_.notify_all();  // under the lock: close() may return and destroy this right after
}

// --- the end ---------------------------------------------------------------------------------------------------------

void SessionGroups::abort(std::uint32_t group, std::uint64_t epoch, const Status& why) {
  const std::lock_guard lock{mutex_};
  const auto found = groups_.find(group);
  if (found == groups_.end() || found->second->place.epoch != epoch) return;
  end(*found->second, why.ok() ? cancelled("the group was aborted") : why);
}

std::shared_ptr<backends::Collective> SessionGroups::find(std::int64_t group) const {
  const std::lock_guard lock{mutex_};
  for (const auto& [number, known] : groups_) {
    if (static_cast<std::int64_t>(number) == group) return known->collective;
  }
  return nullptr;
}

void SessionGroups::run_failed(std::int64_t group, const Status& why) {
  if (const auto member = find(group)) member->abort(why);
}

void SessionGroups::any_run_failed(const Status& why) {
  const std::lock_guard lock{mutex_};
  for (const auto& [number, group] : groups_) {
    if (group->collective) group->collective->abort(why);
  }
}

void SessionGroups::leave() {
  const std::lock_guard lock{mutex_};
  if (std::exchange(has_left_, true)) return;
  for (auto& [number, group] : groups_) {
    if (group->failed.ok()) group->failed = ended();
    if (group->rendezvous) group->rendezvous->stop(ended());
    if (group->links) group->links->leave(ended());
    if (group->collective) group->collective->leave(ended());
  }
}

void SessionGroups::close() {
  leave();
  std::unique_lock lock{mutex_};
  formed_.wait(lock, [&] { return forming_ == 0; });
  groups_.clear();
}

}  // namespace burn::session
