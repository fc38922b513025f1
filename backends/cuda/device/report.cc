#include "backends/cuda/device/report.h"

#include <fstream>

#include <fmt/format.h>

#include "backends/cuda/device/device.h"
#include "backends/cuda/driver/nvrtc.h"
#include "backends/cuda/libraries/cublas_api.h"
#include "backends/cuda/libraries/cudnn_api.h"
#include "backends/cuda/libraries/cufft.h"
#include "backends/cuda/libraries/cusolver.h"
#include "backends/cuda/libraries/nccl.h"

namespace burn::backends::cuda {
namespace {

std::string driver_line() {
  if (const auto loaded = load_driver(); !loaded.ok()) return loaded.status().message();
  std::ifstream module("/sys/module/nvidia/version");
  std::string number;
  module >> number;
  return fmt::format("driver {}, for CUDA up to {}", number.empty() ? "of unknown version" : number,
                     driver_library().version_text());
}

std::string library_line(SharedLibrary& library) {
  if (const auto& status = library.load(); !status.ok()) return "missing: " + status.message();
  return fmt::format("{} {}", library.title(), library.version_text());
}

// The device's free bytes, or why that is unknown. Needs a context, which is released if it has no other owner.
Result<std::uint64_t> free_bytes(CUdevice device) {
  CUcontext context = nullptr, before = nullptr;
  driver().cuCtxGetCurrent(&before);
  BURN_RETURN_IF_ERROR(check(driver().cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain"));
  driver().cuCtxSetCurrent(context);
  std::size_t free = 0, total = 0;
  const auto status = check(driver().cuMemGetInfo(&free, &total), "cuMemGetInfo");
  driver().cuCtxSetCurrent(before);
  driver().cuDevicePrimaryCtxRelease(device);
  BURN_RETURN_IF_ERROR(status);
  return free;
}

std::string device_line(int index) {
  constexpr double kMiB = 1 << 20;
  CUdevice device = 0;
  if (const auto status = check(driver().cuDeviceGet(&device, index), "cuDeviceGet"); !status.ok())
    return fmt::format("device {}: {}", index, status.message());
  char name[256] = {};
  std::size_t total = 0;
  int major = 0, minor = 0;
  driver().cuDeviceGetName(name, sizeof name, device);
  driver().cuDeviceTotalMem(&total, device);
  driver().cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  driver().cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  const auto free = free_bytes(device);
  return fmt::format(
      "device {}: {}, sm_{}{}, {:.0f} MiB, {}", index, name, major, minor, static_cast<double>(total) / kMiB,
      free.ok() ? fmt::format("{:.0f} MiB free", static_cast<double>(*free) / kMiB) : free.status().message());
}

}  // namespace

std::vector<std::string> report() {
  std::vector<std::string> lines{driver_line()};
  for (auto* library :
       {&nvrtc_library(), &cublas_library(), &cudnn_library(), &cufft_library(), &cusolver_library(), &nccl_library()})
    lines.push_back(library_line(*library));
  for (int index = 0; index < device_count(); ++index) lines.push_back(device_line(index));
  return lines;
}

}  // namespace burn::backends::cuda
