// Groups for tests of collectives: all members are in this process, each on its own thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/collective/collective.h"
#include "backends/collective/direct_collective.h"
#include "backends/collective/rendezvous.h"
#include "ir/program.h"
#include "tests/reference/tensor.h"
#include "tests/support/simulated_links.h"

namespace burn::testing {

// The kind of links that connects the members of a group.
enum class LinkKind { simulated, sockets };

class TestGroup {
 public:
  TestGroup(LinkKind kind, int size, const backends::DirectLimits& limits = {});

  int size() const { return static_cast<int>(members_.size()); }
  backends::Collective& member(int rank) { return *members_[static_cast<std::size_t>(rank)]; }
  // Destroys a member, as if its process had ended. Requires: it is not performing a collective.
  void vanish(int rank) { members_[static_cast<std::size_t>(rank)].reset(); }
  SimulatedGroup* simulated() { return simulated_.get(); }  // null for other kinds of links

  // Calls body(rank) for each rank on its own thread, and waits for all threads.
  static void on_threads(const std::vector<int>& ranks, const std::function<void(int)>& body);
  std::vector<int> ranks() const;

 private:
  std::unique_ptr<SimulatedGroup> simulated_;  // outlives the members
  std::vector<std::shared_ptr<backends::Collective>> members_;
};

// Performs one member's part of a collective, `op`, on `x`.
Result<reference::Tensor> perform(backends::Collective& member, const ir::Op& op, const reference::Tensor& x);
// The same for a member without an operand, because of `why`. `type`: of the operand.
Status take_part(backends::Collective& member, const ir::Op& op, const ir::TensorType& type, const Status& why);

}  // namespace burn::testing
