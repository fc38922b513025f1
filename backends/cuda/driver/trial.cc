#include "backends/cuda/driver/trial.h"

#include <algorithm>

#include "backends/cuda/driver/capture.h"

namespace burn::backends::cuda {

Trial::Trial(std::span<const std::size_t> sizes) : status_(start(sizes)) {}

Status Trial::start(std::span<const std::size_t> sizes) {
  const auto& cuda = driver();
  BURN_RETURN_IF_ERROR(check(cuda.cuStreamCreateWithPriority(&stream_, CU_STREAM_NON_BLOCKING, 0), "cuStreamCreate"));
  BURN_RETURN_IF_ERROR(check(cuda.cuEventCreate(&begin_, CU_EVENT_DEFAULT), "cuEventCreate"));
  BURN_RETURN_IF_ERROR(check(cuda.cuEventCreate(&end_, CU_EVENT_DEFAULT), "cuEventCreate"));
  for (const auto bytes : sizes) {
    CUdeviceptr block = 0;
    BURN_RETURN_IF_ERROR(check(cuda.cuMemAlloc(&block, std::max<std::size_t>(bytes, 1)), "cuMemAlloc"));
    blocks_.push_back(block);
    // 0x3c3c is about 0.01 in f32, and about 1 in f16.
    BURN_RETURN_IF_ERROR(check(cuda.cuMemsetD8Async(block, 0x3c, bytes, stream_), "cuMemsetD8Async"));
  }
  return {};
}

Trial::~Trial() {
  const auto& cuda = driver();
  if (stream_) cuda.cuStreamSynchronize(stream_);
  for (const auto block : blocks_) cuda.cuMemFree(block);
  if (begin_) cuda.cuEventDestroy(begin_);
  if (end_) cuda.cuEventDestroy(end_);
  if (stream_) cuda.cuStreamDestroy(stream_);
}

Result<double> Trial::elapsed(const std::function<Status()>& enqueue) const {
  BURN_RETURN_IF_ERROR(check(driver().cuEventRecord(begin_, stream_), "cuEventRecord"));
  BURN_RETURN_IF_ERROR(enqueue());
  BURN_RETURN_IF_ERROR(check(driver().cuEventRecord(end_, stream_), "cuEventRecord"));
  BURN_RETURN_IF_ERROR(check(driver().cuStreamSynchronize(stream_), "what is timed"));
  float milliseconds = 0;
  BURN_RETURN_IF_ERROR(check(driver().cuEventElapsedTime(&milliseconds, begin_, end_), "cuEventElapsedTime"));
  return 1e-3 * static_cast<double>(milliseconds);
}

Result<double> Trial::seconds(const std::function<Status(CUstream)>& enqueue) const {
  BURN_RETURN_IF_ERROR(status_);
  constexpr double kLong = 200e-6;
  constexpr int kTimes = 16;
  const auto once = [&] { return enqueue(stream_); };
  BURN_RETURN_IF_ERROR(elapsed(once).status());  // untimed: kernels are loaded at their first use
  BURN_TRY(const double first, elapsed(once));
  if (first > kLong) return first;

  BURN_TRY(auto* const made, capture_graph(stream_, [&] {
             Status status;
             for (int i = 0; i < kTimes && status.ok(); ++i) status = once();
             return status;
           }));
  const auto all = [&] { return check(driver().cuGraphLaunch(made, stream_), "cuGraphLaunch"); };
  (void)elapsed(all);  // warm-up; an error would recur below
  const auto together = elapsed(all);
  driver().cuGraphExecDestroy(made);
  BURN_RETURN_IF_ERROR(together.status());
  return *together / kTimes;
}

}  // namespace burn::backends::cuda
