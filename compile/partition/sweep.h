// Chooses, for each node of a program, in which form it is computed, and in which forms its results are read.
#pragma once

#include <optional>
#include <span>

#include "compile/partition/mesh_plan.h"

namespace burn::compile::partition {

// The layouts fit the inputs, and the mesh has several members. `wanted`: of the outputs, or empty. The plan along
// "model" is made for what the one along "data" leaves to it. Errors: INVALID_ARGUMENT, with the op and its call site,
// where the program has collectives already.
Result<MeshPlan> make_plan(const ir::Program& program, std::span<const MeshLayout> inputs, const Mesh& mesh,
                           std::span<const std::optional<MeshLayout>> wanted);

}  // namespace burn::compile::partition
