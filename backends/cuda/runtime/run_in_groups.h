// A run with collectives, as its groups know it: from before it is enqueued until the device has done it.
#pragma once

#include <memory>
#include <vector>

#include "backends/cuda/libraries/nccl_group.h"
#include "backends/cuda/runtime/cuda_executable.h"

namespace burn::backends::cuda {

class RunInGroups {
 public:
  // Errors: FAILED_PRECONDITION where the session is in no such group, or another member of it than the program is for;
  // why a group has ended. They name op and call site.
  static Result<std::shared_ptr<RunInGroups>> begin(const CudaExecutable& executable, const RunArgs& args);
  RunInGroups(const RunInGroups&) = delete;
  RunInGroups& operator=(const RunInGroups&) = delete;
  ~RunInGroups() { (void)end(); }

  const RunGroups& groups() const { return groups_; }
  // The device has done it. Errors: a group ended before; what its collectives made is not to be used. Once.
  Status end();

 private:
  RunInGroups() = default;
  Status join(const ir::Node& node, const RunArgs& args);

  RunGroups groups_;  // that it has begun in
  bool has_ended_ = false;
};

}  // namespace burn::backends::cuda
