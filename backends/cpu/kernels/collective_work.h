// The collectives of a step: their operands and results. Performed by the thread of the run or by the group's own.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backends/collective/collective.h"
#include "backends/cpu/runtime/run.h"

namespace burn::backends::cpu {

// A node of a step of collectives.
struct CollectiveNode {
  ir::Op op;
  std::int64_t group = 0;
  ir::TensorType operand, result;
};

// Created and queried by the thread of the run; performed by any thread, once.
class CollectiveWork {
 public:
  // `nodes`: of one group; must outlive the work. Moves the operands out. `failures`: per node, why there is no
  // operand, or null. As the other members wait for this one, it takes part even without an operand, and tells them of
  // the failure.
  // Errors: FAILED_PRECONDITION: the session is in no such group.
  static Result<std::shared_ptr<CollectiveWork>> make(Run& run, std::span<const CollectiveNode> nodes,
                                                      std::span<Array> operands, std::span<const Failure> failures);

  Collective& member() const { return *member_; }
  void perform() noexcept;
  // The result of node k, after perform(). Errors: Collective::perform()'s.
  Result<Array> take(std::size_t k);

 private:
  struct Part {
    Array operand, result;
    Status why;  // the failure of the operand, or the status of perform()
  };

  CollectiveWork(std::shared_ptr<Collective> member, std::span<const CollectiveNode> nodes)
      : member_(std::move(member)), nodes_(nodes), parts_(nodes.size()) {}
  Status prepare(Run& run, std::size_t k, Array& operand, const Failure& failure);

  const std::shared_ptr<Collective> member_;
  const std::span<const CollectiveNode> nodes_;
  std::vector<Part> parts_;
};

}  // namespace burn::backends::cpu
