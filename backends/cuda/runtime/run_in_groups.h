// A run with collectives, as its groups see it: from before it is enqueued until the device has done it.
#pragma once

#include <memory>
#include <vector>

#include "backends/cuda/libraries/nccl_group.h"
#include "backends/cuda/runtime/cuda_executable.h"

namespace burn::backends::cuda {

class RunInGroups {
 public:
  // Errors: FAILED_PRECONDITION if the session is not in such a group, or is another member of it than the program was
  // made for; why a group has ended. The errors name op and call site.
  static Result<std::shared_ptr<RunInGroups>> begin(const CudaExecutable& executable, const RunArgs& args);
  RunInGroups(const RunInGroups&) = delete;
  RunInGroups& operator=(const RunInGroups&) = delete;
  ~RunInGroups() { (void)end(); }

  const RunGroups& groups() const { return groups_; }
  // Must be called once, after the device has done the run. Errors: a group ended before; the results of its
  // collectives are invalid.
  Status end();

 private:
  RunInGroups() = default;
  Status join(const ir::Node& node, const RunArgs& args);

  RunGroups groups_;  // the groups in which the run has begun
  bool has_ended_ = false;
};

}  // namespace burn::backends::cuda
