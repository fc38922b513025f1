#include "backends/cuda/device/device.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "backends/cuda/driver/nvrtc.h"
#include "backends/cuda/libraries/cublas.h"
#include "backends/cuda/libraries/cudnn.h"
#include "base/parse_number.h"
#include "base/settings.h"
#include "compile/codegen/group_memo.h"

namespace burn::backends::cuda {

int device_count() {
  int count = 0;
  return load_driver().ok() && driver().cuDeviceGetCount(&count) == CUDA_SUCCESS ? count : 0;
}

Result<std::shared_ptr<Device>> Device::open(int index) {
  BURN_RETURN_IF_ERROR(load_driver().status());
  BURN_RETURN_IF_ERROR(nvrtc_library().load());
  std::shared_ptr<Device> device(new Device);
  BURN_RETURN_IF_ERROR(device->start(index));
  return device;
}

std::shared_ptr<Device> Device::for_compiling(std::string architecture) {
  std::shared_ptr<Device> device(new Device);
  device->architecture_ = std::move(architecture);
  device->multiprocessors_ = 132;
  device->shared_bytes_ = 228 << 10;
  return device;
}

int Device::compute_capability() const {
  return parse_number<int>(std::string_view(architecture_).substr(std::string_view("sm_").size())).value_or(0);
}

Status Device::start(int index) {
  const auto count = device_count();
  if (index >= count) return not_found(fmt::format("cuda:{} is not there; the driver sees {} devices", index, count));
  index_ = index;
  BURN_RETURN_IF_ERROR(check(driver().cuDeviceGet(&device_, index), "cuDeviceGet"));
  char name[256] = {};
  BURN_RETURN_IF_ERROR(check(driver().cuDeviceGetName(name, sizeof name, device_), "cuDeviceGetName"));
  name_ = name;
  const auto attribute = [&](CUdevice_attribute which) {
    int value = 0;
    driver().cuDeviceGetAttribute(&value, which, device_);
    return value;
  };
  const int major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  architecture_ = fmt::format("sm_{}{}", major, attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  if (major < 8)
    return failed_precondition(fmt::format("cuda:{} ({}) is of architecture {}; sm_80 is the oldest that is supported",
                                           index, name_, architecture_));
  multiprocessors_ = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  shared_bytes_ = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  std::size_t total = 0;
  BURN_RETURN_IF_ERROR(check(driver().cuDeviceTotalMem(&total, device_), "cuDeviceTotalMem"));
  const auto limit = numeric_setting(Setting::device_memory).value_or(0);
  total_bytes_ = limit > 0 ? std::min<std::uint64_t>(total, limit) : total;
  BURN_RETURN_IF_ERROR(check(driver().cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain"));
  make_current();
  memory_ = std::make_shared<DeviceMemory>(context_, total_bytes_);
  if (autotune_is_wanted()) choices_ = std::make_unique<Autotune>(autotune_file("cuda " + name_));
  return {};
}

// The primary context is never released: buffers may outlive their device, and the process shares it with other
// libraries.
Device::Device() : groups_(std::make_unique<compile::GroupMemo>()) {}
Device::~Device() = default;

Result<Kernel> Device::load(const std::string& text, const std::string& code) {
  make_current();
  CUmodule module = nullptr;
  BURN_RETURN_IF_ERROR(check(driver().cuModuleLoadData(&module, code.data()), "cuModuleLoadData"));
  Kernel kernel;
  BURN_RETURN_IF_ERROR(
      check(driver().cuModuleGetFunction(&kernel.function, module, "burn_kernel"), "cuModuleGetFunction"));
  if (text.find("extern __shared__") != std::string::npos) {  // half, so that two blocks fit; the default is 48 KiB
    const auto half = static_cast<int>(shared_bytes_ / 2 - 1024);
    BURN_RETURN_IF_ERROR(check(
        driver().cuFuncSetAttribute(kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, half - 1024),
        "cuFuncSetAttribute"));
  }
  return kernel;
}

Result<std::vector<Kernel>> Device::kernels(std::span<const KernelSource> sources) {
  std::vector<std::string> missing;
  {
    const std::lock_guard lock(kernels_mutex_);
    for (const auto& source : sources) {
      if (!kernels_.contains(source.text) && std::ranges::find(missing, source.text) == missing.end())
        missing.push_back(source.text);
    }
  }
  std::vector<Result<std::string>> codes(missing.size(), Result<std::string>(std::string()));
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (auto i = next++; i < missing.size(); i = next++) {
      try {
        codes[i] = cached_kernel(missing[i], architecture_);
      } catch (const std::exception& failure) {  // uncaught, it would end the process
        codes[i] = resource_exhausted(fmt::format("CUDA: a kernel is not compiled: {}", failure.what()));
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    const auto threads = std::min<std::size_t>({missing.size(), std::thread::hardware_concurrency(), 16});
    try {
      for (std::size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
    } catch (const std::system_error&) {  // the system has no more threads: the existing ones compile
    }
    work();
  }

  const std::lock_guard lock(kernels_mutex_);
  for (std::size_t i = 0; i < missing.size(); ++i) {
    BURN_RETURN_IF_ERROR(codes[i].status());
    if (kernels_.contains(missing[i])) continue;
    BURN_TRY(auto kernel, load(missing[i], *codes[i]));
    kernels_.emplace(missing[i], kernel);
  }
  std::vector<Kernel> all;
  for (const auto& source : sources) all.push_back(kernels_.at(source.text));
  return all;
}

Result<CublasLt*> Device::cublas() {
  const std::lock_guard lock(libraries_mutex_);
  if (!context_) return failed_precondition("there is no GPU");
  if (!cublas_) {
    make_current();
    BURN_TRY(cublas_, CublasLt::open(name_));
  }
  return cublas_.get();
}

Result<Cudnn*> Device::cudnn() {
  const std::lock_guard lock(libraries_mutex_);
  if (!context_) return failed_precondition("there is no GPU");
  if (!cudnn_) {
    make_current();
    BURN_TRY(cudnn_, Cudnn::open());
  }
  return cudnn_.get();
}

}  // namespace burn::backends::cuda
