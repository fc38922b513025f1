// A collective as a command, performed by NCCL.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "backends/cuda/driver/compile_names.h"
#include "backends/cuda/libraries/nccl_group.h"

namespace burn::backends::cuda {

// Passed to Emitter::call(). Requires: a RunGroupsScope of a run that is in the group.
struct GroupCall {
  using Body = std::function<NcclResult(const Nccl& library, NcclComm comm, const Bindings& at, CUstream stream)>;

  std::int64_t group = 0;
  const char* name = "";  // of the op
  Body body;

  Status operator()(const Bindings& at, CUstream stream) const {
    return RunGroupsScope::current()->at(group)->enqueue(
        name, [&](const Nccl& library, NcclComm comm) { return body(library, comm, at, stream); });
  }
};

// All-reduces of one group and dtype, which NCCL performs as one.
void lower_all_reduces(Emitter& emit, std::span<const NodeInPlan> nodes);

}  // namespace burn::backends::cuda
