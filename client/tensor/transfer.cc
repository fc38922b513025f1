#include "client/tensor/transfer.h"

#include <algorithm>
#include <chrono>
#include <list>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "client/record/device_state.h"
#include "client/record/groups.h"
#include "ir/ops.h"
#include "proto/group_forming.h"

namespace burn::client {
namespace {

constexpr std::size_t kMinBytes = std::size_t{1} << 20;  // for less it is not worthwhile to connect two workers
constexpr std::size_t kMaxPairs = 7;                     // of each device
constexpr std::chrono::seconds kForming{10};

// Two devices that form a group, or that are known to be unable to.
struct Pair {
  std::weak_ptr<DeviceState> from, to;
  std::uint32_t group = 0;
  bool stands = false;

  bool has(const std::shared_ptr<DeviceState>& device) const { return from.lock() == device || to.lock() == device; }
  bool is_of(const std::shared_ptr<DeviceState>& a, const std::shared_ptr<DeviceState>& b) const {
    return has(a) && has(b);
  }
};

// Guarded by group_operations().
std::list<Pair>& pairs() {
  static auto& all = *new std::list<Pair>;  // never destroyed: devices may be destroyed after main()
  return all;
}

// The pair of `a` and `b`, whose group is formed first if needed; null if they cannot form one. Requires: `a` and `b`
// differ.
const Pair* pair_of(const std::shared_ptr<DeviceState>& a, const std::shared_ptr<DeviceState>& b) {
  auto& all = pairs();
  all.remove_if([](const Pair& pair) { return pair.from.expired() || pair.to.expired(); });
  const auto found = std::ranges::find_if(all, [&](const Pair& pair) { return pair.is_of(a, b); });
  if (found != all.end()) return found->stands ? &*found : nullptr;
  for (const auto& device : {a, b}) {
    if (static_cast<std::size_t>(std::ranges::count_if(all, [&](const Pair& pair) { return pair.has(device); })) >=
        kMaxPairs)
      return nullptr;
  }
  proto::Session* sessions[] = {&a->session(), &b->session()};
  proto::FormedGroup group{.group = next_group_number(), .epoch = kGroupEpoch};
  const auto [member, why] = proto::form_group(sessions, group, kForming);
  if (!why.ok()) {
    for (auto* const session : sessions) session->abort_group(group.group, kGroupEpoch, why);
  }
  all.push_back({a, b, group.group, why.ok()});
  return why.ok() ? &all.back() : nullptr;
}

void check_health(const DeviceState& device) {
  if (const auto status = device.health(); !status.ok()) throw Error(status.with_context("to_device: " + device.url()));
}

}  // namespace

std::optional<Value> move_directly(const Value& value, const Place& to, const Site& site) {
  const auto& from = value.device();
  if (value.rank() == 0 || value.type().num_bytes() < kMinBytes || value.shape()[0] == 0) return std::nullopt;
  if (!from->session().traits().is_remote || !to.device->session().traits().is_remote) return std::nullopt;
  check_health(*from);
  check_health(*to.device);
  const std::lock_guard lock{group_operations()};
  const auto* pair = pair_of(from, to.device);
  if (!pair) return std::nullopt;
  // The device that has the tensor sends all of it, and the other one receives all of it.
  const bool is_first = pair->from.lock() == from;
  const auto size = value.shape()[0];
  const ir::Dims have = is_first ? ir::Dims{size, 0} : ir::Dims{0, size};
  const ir::Dims take = is_first ? ir::Dims{0, size} : ir::Dims{size, 0};
  const auto op_of = [&](std::int64_t member) {
    return ir::AllToAll{.from = 0, .from_sizes = have, .to = 0, .sizes = take, .member = member, .group = pair->group};
  };
  auto shape = value.shape();
  shape[0] = 0;
  const auto sent = apply(op_of(is_first ? 0 : 1), value.inner(), site);
  const auto none = filled({to.device}, shape, 0, value.dtype(), site);
  const auto moved = apply(op_of(is_first ? 1 : 0), none, site);
  from->flush();
  to.device->flush();
  return to.autodiff ? moved.from_inner() : moved;
}

}  // namespace burn::client
