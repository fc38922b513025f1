// A program made ready for one device.
#pragma once

#include <memory>
#include <vector>

#include "backends/cuda/device/device.h"
#include "backends/cuda/driver/compile_names.h"
#include "backends/cuda/runtime/side_stream.h"

namespace burn::backends::cuda {

// Immutable once made: what a run needs beside it belongs to the stream.
class CudaExecutable final : public Executable {
 public:
  // Errors: UNIMPLEMENTED, naming the op and its call site; INTERNAL with the compiler's complaints.
  static Result<std::unique_ptr<CudaExecutable>> make(const ir::Program& program, std::shared_ptr<Device> device);

  const ir::Program& program() const { return program_; }
  const Lowered& lowered() const { return lowered_; }
  std::span<const Kernel> kernels() const { return kernels_; }
  std::size_t memory_bytes() const override;
  // The arena, and outputs that are not made in inputs.
  RunBytes run_bytes() const override;

  std::uint64_t id() const { return id_; }  // of no other executable of this process
  // The scalars of the program by slot.
  const std::vector<std::pair<std::int64_t, ir::DType>>& scalars() const { return scalars_; }
  bool reads_bindings() const { return !scalars_.empty() || program_.random_blocks > 0 || !lowered_.commits.empty(); }

  // The nodes that the members of groups perform together.
  const std::vector<const ir::Node*>& collectives() const { return collectives_; }
  // Which commands go on beside the others.
  const Lanes& lanes() const { return lanes_; }
  // What a run may find out late: its checks and, where it has collectives, whether its groups were there until its
  // end, which comes last and which all outputs hang on.
  std::size_t findings() const { return lowered_.checks.size() + (collectives_.empty() ? 0 : 1); }

  // Marks the inputs that an output is computed from, and the findings about what it is computed from.
  const std::vector<bool>& inputs_of(std::size_t output) const { return inputs_of_[output]; }
  const std::vector<bool>& checks_of(std::size_t output) const { return checks_of_[output]; }

  // The steps that cannot be done where there is no memory for these outputs, and the outputs that are lost with them,
  // which are marked, too.
  std::vector<bool> without(std::vector<bool>& lost_outputs) const;

  // As Stream::run() wants them.
  Status check_args(const RunArgs& args) const;

 private:
  CudaExecutable(const ir::Program& program, std::shared_ptr<Device> device);
  void find_dependencies();
  void find_lanes();

  const std::uint64_t id_;
  const PlanOptions options_;
  const ir::Program program_;  // simplified
  const std::shared_ptr<Device> device_;
  Lowered lowered_;
  std::vector<Kernel> kernels_;
  Lanes lanes_;
  std::vector<std::pair<std::int64_t, ir::DType>> scalars_;
  std::vector<const ir::Node*> collectives_;              // of program_
  std::vector<std::vector<bool>> inputs_of_, checks_of_;  // per output
};

}  // namespace burn::backends::cuda
