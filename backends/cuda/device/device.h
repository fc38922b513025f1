// One GPU of this process: its context, its properties, the kernels loaded on it, and the libraries opened for it.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "backends/autotune.h"
#include "backends/cuda/driver/compile_names.h"
#include "backends/cuda/driver/driver.h"
#include "backends/cuda/driver/memory.h"

namespace burn::backends::cuda {

class CublasLt;
class Cudnn;

// Loaded as long as the device exists.
struct Kernel {
  CUfunction function = nullptr;
};

// Thread-safe.
class Device {
 public:
  // Errors: FAILED_PRECONDITION with what is missing.
  static Result<std::shared_ptr<Device>> open(int index);
  // A device without a GPU: programs can be lowered for an architecture, and their kernels compiled, but not loaded.
  static std::shared_ptr<Device> for_compiling(std::string architecture);
  ~Device();

  int index() const { return index_; }
  const std::string& name() const { return name_; }
  const std::string& architecture() const { return architecture_; }  // "sm_90"
  int compute_capability() const;                                    // 90
  int multiprocessors() const { return multiprocessors_; }
  std::int64_t shared_bytes() const { return shared_bytes_; }  // of shared memory per multiprocessor
  std::uint64_t total_bytes() const { return total_bytes_; }
  CUcontext context() const { return context_; }
  // Makes the device's context current: driver calls of this thread go to this device from now on.
  void make_current() const { driver().cuCtxSetCurrent(context_); }

  const std::shared_ptr<DeviceMemory>& memory() const { return memory_; }
  // One kernel per source, in order; missing ones are compiled in parallel.
  Result<std::vector<Kernel>> kernels(std::span<const KernelSource> sources);

  // A cache of the kernels that were generated for groups.
  compile::GroupMemo& groups() { return *groups_; }

  // The choices made by timing on this device; null: nothing is timed, as there is no GPU or it is turned off.
  Autotune* choices() { return choices_.get(); }
  // Opened at the first call. Errors: FAILED_PRECONDITION with what is missing.
  Result<CublasLt*> cublas();
  Result<Cudnn*> cudnn();

 private:
  Device();
  Status start(int index);
  Result<Kernel> load(const std::string& text, const std::string& code);

  int index_ = 0;
  std::string name_, architecture_;
  int multiprocessors_ = 0;
  std::int64_t shared_bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  std::shared_ptr<DeviceMemory> memory_;
  std::mutex kernels_mutex_, libraries_mutex_;
  std::unordered_map<std::string, Kernel> kernels_;  // by text
  std::unique_ptr<compile::GroupMemo> groups_;
  std::unique_ptr<Autotune> choices_;
  std::unique_ptr<CublasLt> cublas_;
  std::unique_ptr<Cudnn> cudnn_;
};

// The number of devices that the driver finds; 0 without a driver.
int device_count();

}  // namespace burn::backends::cuda
