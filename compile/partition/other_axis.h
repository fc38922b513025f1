// What the plan along one axis of a mesh leaves to the plan along the other.
#pragma once

#include "compile/partition/mesh_plan.h"

namespace burn::compile::partition {

// Two axes never split the same dim of a value: a member has what both leave it. Of a mesh of one axis everything may
// be done.
class OtherAxis {
 public:
  // `plan`: along the other axis, which outlives this; null: there is none.
  OtherAxis(const ir::Program& program, const ProgramPlan* plan) : program_(program), plan_(plan) {}

  // Whether the node, the n-th, can be computed so, in all ways in which it is computed along the other axis.
  bool allows(std::size_t n, const Choice& choice) const;
  // Whether readers can find the value so.
  bool allows(ir::Ref value, const Form& form) const;
  bool allows_output(std::size_t k, const Form& form) const;
  // Whether result k of the node is combined by another function along the other axis.
  bool combines_otherwise(std::size_t n, std::size_t k, ir::ReduceFn fn) const;

 private:
  const ir::Program& program_;
  const ProgramPlan* plan_;
};

}  // namespace burn::compile::partition
