// Checks whether a run fits its program and the tensors of its session, and makes the errors of calls that name
// tensors.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "proto/session.h"
#include "router/core/programs.h"
#include "router/core/tensors.h"

namespace burn::router {

Status unknown_tensor(proto::TensorId id);
Status tensor_exists(proto::TensorId id);
Status too_many_tensors(std::uint64_t max_tensors);

// Marks the inputs as used by this run (Tensors::begin_run), because a donated tensor may be named only once.
Status check_run(const proto::Run& run, const RoutedProgram& routed, Tensors& tensors, std::uint64_t max_tensors);

}  // namespace burn::router
