// A program compiled for one CUDA device.
#pragma once

#include <memory>
#include <vector>

#include "backends/cuda/device/device.h"
#include "backends/cuda/driver/compile_names.h"
#include "backends/cuda/runtime/side_stream.h"
#include "backends/gpu/device_program.h"

namespace burn::backends::cuda {

class CudaExecutable final : public DeviceProgram {
 public:
  // Errors: UNIMPLEMENTED, naming the op and its call site; INTERNAL with the compiler's complaints.
  static Result<std::unique_ptr<CudaExecutable>> make(const ir::Program& program, std::shared_ptr<Device> device);

  std::span<const Kernel> kernels() const { return kernels_; }
  // Which commands run on the side stream, concurrently with the others.
  const Lanes& lanes() const { return lanes_; }

  // Checks the arguments as Stream::run() requires.
  Status check_args(const RunArgs& args) const;

 private:
  CudaExecutable(const ir::Program& program, std::shared_ptr<Device> device);
  void find_lanes();

  const std::shared_ptr<Device> device_;
  std::vector<Kernel> kernels_;
  Lanes lanes_;
};

}  // namespace burn::backends::cuda
