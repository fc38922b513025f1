// Groups for tests of collectives: all members in this process, each on a thread of its own.
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

// What the members of a group are connected by.
enum class LinkKind { simulated, sockets };

class TestGroup {
 public:
  TestGroup(LinkKind kind, int size, const backends::DirectLimits& limits = {});

  int size() const { return static_cast<int>(members_.size()); }
  backends::Collective& member(int rank) { return *members_[static_cast<std::size_t>(rank)]; }
  // The member is gone, as with its process. Not while it performs something.
  void vanish(int rank) { members_[static_cast<std::size_t>(rank)].reset(); }
  SimulatedGroup* simulated() { return simulated_.get(); }  // null: it is not

  // Calls body(rank) for all of these on threads side by side, and waits for them.
  static void on_threads(const std::vector<int>& ranks, const std::function<void(int)>& body);
  std::vector<int> ranks() const;

 private:
  std::unique_ptr<SimulatedGroup> simulated_;  // outlives the members
  std::vector<std::shared_ptr<backends::Collective>> members_;
};

// One member's part of a collective: performs `op` on `x`. `type`: of the result.
Result<reference::Tensor> perform(backends::Collective& member, const ir::Op& op, const reference::Tensor& x);
// As a member without an operand.
Status take_part(backends::Collective& member, const ir::Op& op, const ir::TensorType& type, const Status& why);

}  // namespace burn::testing
