#include "client/group/group.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <system_error>

#include "base/error.h"
#include "base/thread.h"
#include "client/fail.h"
#include "client/record/device_state.h"
#include "client/record/groups.h"
#include "proto/group_forming.h"

namespace burn::client {
namespace {

// "device 1 (ws://b:3000)"
std::string name_of(const std::vector<Device>& devices, std::size_t k) {
  return "device " + std::to_string(k) + " (" + devices[k].url() + ")";
}

Status failure_of(const std::vector<Device>& devices, std::size_t k, const Status& why) {
  return why.with_context("group: " + name_of(devices, k));
}

void check(const std::vector<Device>& devices) {
  if (devices.size() < 2 || devices.size() > static_cast<std::size_t>(ir::kMaxMembers)) {
    throw Error(StatusCode::invalid_argument, "group: it has 2 to " + std::to_string(ir::kMaxMembers) +
                                                  " devices, not " + std::to_string(devices.size()));
  }
  for (std::size_t k = 0; k < devices.size(); ++k) {
    for (std::size_t i = 0; i < k; ++i) {
      if (devices[i].state() == devices[k].state()) {
        throw Error(StatusCode::invalid_argument, "group: devices " + std::to_string(i) + " and " + std::to_string(k) +
                                                      " are one, " + devices[k].url() +
                                                      "; Device::new_session() opens another session of it");
      }
    }
  }
}

void check_health(const std::vector<Device>& devices) {
  for (std::size_t k = 0; k < devices.size(); ++k) {
    if (const auto status = devices[k].state()->health(); !status.ok()) throw Error(failure_of(devices, k, status));
  }
}

}  // namespace

struct Group::Formed {
  Formed(std::vector<Device> all, std::chrono::milliseconds timeout)
      : devices(std::move(all)), number(next_group_number()) {
    check(devices);
    check_health(devices);
    std::vector<proto::Session*> sessions;
    sessions.reserve(devices.size());
    for (const auto& device : devices) sessions.push_back(&device.state()->session());
    proto::FormedGroup group{.group = number, .epoch = kGroupEpoch};
    const auto [member, why] = proto::form_group(sessions, group, timeout);
    if (why.ok()) return;
    const auto error = failure_of(devices, member, why);
    for (auto* const session : sessions) session->abort_group(number, kGroupEpoch, error);
    throw Error(error);
  }
  Formed(const Formed&) = delete;
  Formed& operator=(const Formed&) = delete;
  ~Formed() {
    try {
      end();
    } catch (...) {  // NOLINT: a device is lost, or of a parent process: its session ends the group itself
    }
  }

  proto::Session& session(std::size_t k) const { return devices[k].state()->session(); }

  // Performs one more operation, and ends the group on each member once all have finished it, as members may lag
  // behind.
  void end() const {
    check_health(devices);
    Lists last;
    for (const auto& device : devices) {
      const auto zero = constant({device.state()}, 0, ir::DType::f32, {});
      last.push_back({apply(ir::AllReduce{.fn = ir::ReduceFn::sum, .group = number}, zero, {})});
    }
    const auto ending = std::make_shared<Ending>(devices.size());
    bool may_wait = true;
    for (const auto& device : devices) {
      ending->states.push_back(device.state());
      may_wait = may_wait && !device.state()->session().is_on_own_thread();
    }
    std::unique_lock operation{group_operations()};
    std::vector<proto::TensorId> ids;
    for (std::size_t k = 0; k < devices.size(); ++k)
      ids.push_back(ending->states[k]->materialise(*last[k][0].storage()));
    operation.unlock();
    for (std::size_t k = 0; k < devices.size(); ++k) {
      session(k).read(ids[k], [ending, group = number](const Result<proto::HostTensor>&) {
        if (--ending->left == 0) ending->finish(group);
      });
    }
    ending->wait(may_wait ? kMaxWait : std::chrono::milliseconds{0});
  }

  // Keeps the devices alive until all have finished the last operation. These may be the last handles of the devices,
  // and a session must not be destroyed in a callback of another session, which would wait for it.
  struct Ending {
    explicit Ending(std::size_t devices) : left(devices) {}
    std::atomic<std::size_t> left;
    std::vector<std::shared_ptr<DeviceState>> states;
    std::mutex mutex;
    std::condition_variable changed;
    bool is_done = false, is_left_alone = false;

    void finish(std::uint32_t group) {
      for (const auto& state : states)
        state->session().abort_group(group, kGroupEpoch, cancelled("nothing uses the group any more"));
      const std::lock_guard lock{mutex};
      is_done = true;
      changed.notify_all();
      if (!is_left_alone) return;
      try {
        start_thread("burn-close", [last = std::move(states)]() mutable { last.clear(); }).detach();
      } catch (const std::system_error&) {  // NOLINT: no thread can be started; they are destroyed here
      }
    }
    // Waits at most `limit`; after that, finish() releases the devices. Without the wait, a process that exits could
    // leave sessions in calls that wait for each other.
    void wait(std::chrono::milliseconds limit) {
      std::unique_lock lock{mutex};
      is_left_alone = !changed.wait_for(lock, limit, [&] { return is_done; });
      if (!is_left_alone) states.clear();
    }
  };
  static constexpr std::chrono::milliseconds kMaxWait{2000};

  const std::vector<Device> devices;
  const std::uint32_t number;
};

Group::Group(std::vector<Device> devices, std::chrono::milliseconds timeout)
    : formed_(std::make_shared<const Formed>(std::move(devices), timeout)) {}

std::size_t Group::size() const { return formed_->devices.size(); }
const std::vector<Device>& Group::devices() const { return formed_->devices; }

namespace {

void check(const std::vector<Device>& devices, const Group::Lists& values, const Site& site) {
  const auto refuse = [&](const std::string& what) { fail("all_reduce: " + what, site); };
  if (values.size() != devices.size())
    refuse(std::to_string(values.size()) + " values for " + std::to_string(devices.size()) + " devices");
  for (std::size_t k = 0; k < devices.size(); ++k) {
    if (values[k].size() != values[0].size()) {
      refuse(std::to_string(values[k].size()) + " values on " + name_of(devices, k) + ", " +
             std::to_string(values[0].size()) + " on " + name_of(devices, 0));
    }
    for (std::size_t i = 0; i < values[k].size(); ++i) {
      const auto& value = values[k][i];
      fail_if_empty(value, "all_reduce", site);
      if (value.device() != devices[k].state())
        refuse("value " + std::to_string(k) + " is on " + value.device()->url() + ", not on " + name_of(devices, k));
      if (value.type() != values[0][i].type()) {
        refuse(ir::to_string(value.type()) + " on " + name_of(devices, k) + ", " + ir::to_string(values[0][i].type()) +
               " on " + name_of(devices, 0));
      }
      if (value.is_tracked()) refuse("no gradient passes from device to device; detach() the tensors first");
    }
  }
  check_health(devices);
}

// Records op_of(k, i, value) for the i-th value of each device, in the same `order` on all devices, and sends it, so
// that every device gets the operations that the others wait for.
template <typename OpOf>
Group::Lists perform(const std::vector<Device>& devices, Group::Lists values, const std::vector<std::size_t>& order,
                     const Site& site, const OpOf& op_of) {
  Group::Lists results(devices.size());
  const std::lock_guard lock{group_operations()};
  for (std::size_t k = 0; k < devices.size(); ++k) {
    results[k].resize(values[k].size());
    for (const auto i : order) {
      auto& value = values[k][i];
      const auto result = apply(op_of(k, i, value), value.inner(), site);
      results[k][i] = value.is_autodiff() ? result.from_inner() : result;
      value = {};  // not needed any more
    }
    devices[k].flush();
  }
  return results;
}

std::vector<std::size_t> in_order(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

// Sorts the values by when they are computed, so that the first ones are summed and sent while the others are computed.
std::vector<std::size_t> by_readiness(const std::vector<Value>& values) {
  auto order = in_order(values.size());
  if (values.empty()) return order;
  std::vector<std::int32_t> recorded;  // the value's index in its recording; -1: already computed
  {
    const DeviceLock lock(*values.front().device());
    for (const auto& value : values) recorded.push_back(value.storage()->recorder ? value.storage()->value : -1);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return recorded[i]; });
  return order;
}

// For each value the number of its bucket (ir/ops/collectives.h): all-reduces of one dtype, large enough to use the
// links well, and small enough that the first is sent early. Values of different dtypes may alternate.
std::vector<std::int64_t> buckets_of(const std::vector<Value>& values, const std::vector<std::size_t>& order) {
  constexpr std::size_t kFirst = std::size_t{1} << 20, kMaxBucket = std::size_t{25} << 20;  // bytes
  struct Bucket {
    std::int64_t number = 0;
    std::size_t bytes = 0;
  };
  std::map<ir::DType, Bucket> open;
  std::int64_t count = 0;
  std::vector<std::int64_t> buckets(values.size());
  for (const auto i : order) {
    const auto here = values[i].type().num_bytes();
    auto& bucket = open[values[i].dtype()];
    if (bucket.number == 0 || bucket.bytes + here > (bucket.number == 1 ? kFirst : kMaxBucket)) bucket = {++count, 0};
    bucket.bytes += here;
    buckets[i] = bucket.number;
  }
  return buckets;
}

// The sizes of a dim's parts: all of it on the first member, 0 on the others.
ir::Dims all_on_first(std::int64_t size, std::size_t members) {
  auto sizes = ir::Dims::filled(static_cast<int>(members), 0);
  sizes[0] = size;
  return sizes;
}

}  // namespace

Group::Lists Group::all_reduce(Lists values, ir::ReduceFn fn, const Site& site) const {
  check(devices(), values, site);
  const auto order = by_readiness(values.front());
  const auto buckets = buckets_of(values.front(), order);
  return perform(devices(), std::move(values), order, site, [&](std::size_t, std::size_t i, const Value&) -> ir::Op {
    return ir::AllReduce{.fn = fn, .group = formed_->number, .bucket = buckets[i]};
  });
}

std::vector<Value> Group::reduce(Lists values, const Site& site) const {
  check(devices(), values, site);
  const auto order = by_readiness(values.front());
  const auto sums =
      perform(devices(), std::move(values), order, site, [&](std::size_t k, std::size_t, const Value& value) -> ir::Op {
        return ir::ReduceScatter{.fn = ir::ReduceFn::sum,
                                 .dim = 0,
                                 .sizes = all_on_first(value.shape()[0], size()),
                                 .member = static_cast<std::int64_t>(k),
                                 .group = formed_->number};
      });
  return sums[0];
}

Group::Lists Group::broadcast(const std::vector<Value>& values, const Site& site) const {
  Lists parts{values};
  for (std::size_t k = 1; k < size(); ++k) {
    auto& none = parts.emplace_back();
    for (const auto& value : values) {
      auto shape = value.shape();
      shape[0] = 0;
      none.push_back(filled({devices()[k].state(), value.is_autodiff()}, shape, 0, value.dtype(), site));
    }
  }
  check_health(devices());
  std::vector<std::int64_t> whole;
  whole.reserve(values.size());
  for (const auto& value : values) whole.push_back(value.shape()[0]);
  const auto order = in_order(values.size());
  return perform(devices(), std::move(parts), order, site, [&](std::size_t k, std::size_t i, const Value&) -> ir::Op {
    return ir::AllGather{.dim = 0,
                         .sizes = all_on_first(whole[i], size()),
                         .member = static_cast<std::int64_t>(k),
                         .group = formed_->number};
  });
}

}  // namespace burn::client
