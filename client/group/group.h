// Devices that compute one thing together, without a router: each has its own part of it, and what belongs to all is
// summed between them. The bytes go from device to device, not through this program.
//
//   const client::Group group({"ws://a:3000", "ws://b:3000"});
//   std::vector<Tensor<1>> sums = group.all_reduce(losses);  // losses[k] on the k-th device; so is sums[k]
//
// docs/router.md ("Without a router") says more.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "client/tensor/tensor.h"

namespace burn::client {

// A cheap handle: copies are the same group, and the last one ends it, behind all that is to be performed in it. One
// thread at a time, and the same order of calls as of what is recorded on its devices by others: all members perform
// the group's operations in one order.
class Group {
 public:
  // Connects the devices to each other, and waits until they are; `timeout` bounds the wait. Every device has to be
  // reachable from the others under the address at which it serves. Errors (thrown), naming the device: fewer than two
  // devices, or more than ir::kMaxMembers; one that is in the list twice; one that is lost; one that forms no groups,
  // such as a router's; one that does not answer or cannot reach the others in time.
  explicit Group(std::vector<Device> devices, std::chrono::milliseconds timeout = std::chrono::seconds{20});

  std::size_t size() const;
  const std::vector<Device>& devices() const;

  // One value for each device, all of one type: on each device the combination of all of them, element by element, the
  // same bits everywhere. 16-bit floats are summed in f32. Recorded and sent, not waited for. No gradient passes.
  // Errors (thrown): a number of values that is not that of the devices; a value on another device than its place in
  // the list says; values of different dtypes or shapes, or tracked for gradients; a device that is lost, named. Of
  // what fails on one device, or on the way, the results fail on all, with the cause.
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

  // Without ranks, and of several values at a time: a list for each device, all equally long, whose i-th values belong
  // together. What they are computed from is sent with them as one program for each device.
  using Lists = std::vector<std::vector<Value>>;
  Lists all_reduce(Lists values, ir::ReduceFn fn, const Site& site) const;
  // The sums, on the first device alone. Of values of rank 1 and more.
  std::vector<Value> reduce(Lists values, const Site& site) const;
  // Values of the first device on every device, of rank 1 and more.
  Lists broadcast(const std::vector<Value>& values, const Site& site) const;

 private:
  struct Formed;
  std::shared_ptr<const Formed> formed_;
};

}  // namespace burn::client
