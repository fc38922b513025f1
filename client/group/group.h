// Devices that compute together without a router: each computes on its own part of the data, and shared values are
// summed over all of them. The bytes are sent from device to device, not through this program.
//
//   const client::Group group({"ws://a:3000", "ws://b:3000"});
//   std::vector<Tensor<1>> sums = group.all_reduce(losses);  // losses[k] and sums[k] are on the k-th device
//
// Details: docs/router.md ("Without a router").
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "client/tensor/tensor.h"

namespace burn::client {

// A cheap handle: copies are the same group. Destroying the last one ends the group after all of its operations. One
// thread at a time; ops that other threads record on its devices need the same order on all of them, as all members
// perform the group's operations in one order.
class Group {
 public:
  // Connects the devices to each other, and waits until they are connected, at most `timeout`. Requires: every device
  // is reachable from the others under the address at which it serves. Errors (thrown), naming the device: fewer than
  // two devices, or more than ir::kMaxMembers; a device that is listed twice, is lost, cannot form groups (such as a
  // router's), or does not answer or reach the others in time.
  explicit Group(std::vector<Device> devices, std::chrono::milliseconds timeout = std::chrono::seconds{20});

  std::size_t size() const;
  const std::vector<Device>& devices() const;

  // Combines one value of each device, all of one type, element by element. Every device gets the result, with the same
  // bits everywhere. 16-bit floats are summed in f32. Recorded and sent, not waited for. No gradient flows through it.
  // Errors (thrown): more or fewer values than devices; a value that is not on the device at its index; values of
  // different dtypes or shapes, or tracked for gradients; a lost device, with its name. If the operation fails on one
  // device or link, the results fail on all devices, with the cause.
  template <int D, Kind K>
  std::vector<Tensor<D, K>> all_reduce(const std::vector<Tensor<D, K>>& values, ir::ReduceFn fn = ir::ReduceFn::sum,
                                       Loc where = Loc::current()) const {
    Lists lists;
    for (const auto& value : values) lists.push_back({value.value()});
    std::vector<Tensor<D, K>> results;
    for (auto& list : all_reduce(std::move(lists), fn, at(where, "all_reduce")))
      results.emplace_back(std::move(list.front()));
    return results;
  }

  // The untyped form, for several values at a time: one list for each device, all of equal length; the i-th values of
  // all lists are combined. Each device gets one program, with the ops that compute its values.
  using Lists = std::vector<std::vector<Value>>;
  Lists all_reduce(Lists values, ir::ReduceFn fn, const Site& site) const;
  // The sums, on the first device only. Requires: values of rank 1 or more.
  std::vector<Value> reduce(Lists values, const Site& site) const;
  // Copies values of the first device to every device. Requires: rank 1 or more.
  Lists broadcast(const std::vector<Value>& values, const Site& site) const;

 private:
  struct Formed;
  std::shared_ptr<const Formed> formed_;
};

}  // namespace burn::client
