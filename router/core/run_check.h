// Whether a run fits its program and the tensors of its session, and the errors of calls that name tensors.
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

// Marks the inputs as used by this run (Tensors::begin_run), as a tensor that is donated may be named once only.
Status check_run(const proto::Run& run, const RoutedProgram& routed, Tensors& tensors, std::uint64_t max_tensors);

}  // namespace burn::router
