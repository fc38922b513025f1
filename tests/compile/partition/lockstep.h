// Members' programs run side by side by the reference: each up to its next collective, which all of them then perform.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "compile/partition/partition.h"
#include "tests/reference/interpreter.h"

namespace burn::testing {

// The outputs of each member of a mesh. Throws std::logic_error where members do not have the same collectives in the
// same order, and what reference::evaluate throws.
std::vector<std::vector<reference::Tensor>> run_in_lockstep(std::span<const std::shared_ptr<const ir::Program>> members,
                                                            const compile::partition::Mesh& mesh,
                                                            std::span<const std::vector<reference::Tensor>> inputs,
                                                            const reference::Bindings& bindings = {});

// A member's part of a value, and the value that the members' parts make together. join() throws std::logic_error where
// members have different bits of a whole value.
reference::Tensor part(const reference::Tensor& whole, const compile::partition::Layout& layout, int member);
reference::Tensor join(std::span<const reference::Tensor> parts, const ir::TensorType& type,
                       const compile::partition::Layout& layout);

// The outputs of a program that is partitioned, run by its members, and put together.
std::vector<reference::Tensor> run_partitioned(const ir::Program& program,
                                               const compile::partition::Partitioned& partitioned,
                                               const compile::partition::Mesh& mesh,
                                               std::span<const compile::partition::MeshLayout> layouts,
                                               std::span<const reference::Tensor> inputs,
                                               const reference::Bindings& bindings = {});
// On a mesh of one axis.
std::vector<reference::Tensor> run_partitioned(const ir::Program& program,
                                               const compile::partition::Partitioned& partitioned,
                                               std::span<const compile::partition::Layout> layouts,
                                               std::span<const reference::Tensor> inputs,
                                               const reference::Bindings& bindings = {});

}  // namespace burn::testing
