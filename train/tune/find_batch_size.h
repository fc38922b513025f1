// Finds the largest batch size for which a training step of a model has enough memory.
//
//   const auto found = train::find_batch_size(net, optim::AdamConfig{}, [&](std::int64_t size) {
//     return random_batch(size, device);
//   });
//   // found.size = 1536, found.too_large = 1600: "out of memory: ..."
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "nn/module/config.h"
#include "train/learner/output.h"
#include "train/optim/module_optimizer.h"

namespace burn::train {

struct FindBatchSizeOptions {
  std::int64_t first = 1;       // first size; doubled while memory suffices
  std::int64_t most = 1 << 16;  // largest size to try
  std::int64_t steps = 2;       // steps per size: optimizer state exists from the second on
  double precision = 1.0 / 16;  // allowed gap between size and too_large, relative to the size
  BURN_CONFIG(FindBatchSizeOptions, first, most, steps, precision)
};

struct FoundBatchSize {
  std::int64_t size = 0;                    // the largest size with enough memory
  std::optional<std::int64_t> too_large{};  // the smallest size that failed; none: `most` was reached
  std::string why{};                        // the device's error for too_large
};

namespace detail {

// Calls fits(size), which throws RESOURCE_EXHAUSTED if memory does not suffice. Errors (thrown): options out of range;
// not enough memory for `first`, with the device's error; any other exception of fits().
FoundBatchSize find_batch_size(const FindBatchSizeOptions& options, const std::function<void(std::int64_t)>& fits);

}  // namespace detail

// Takes steps of a copy of the model with batches of make_batch(size): doubles the size until the device's memory or
// quota is exhausted, then tries sizes in between. Memory that other programs allocate or free meanwhile affects the
// result. Does not change `model` and `optimizer`. On a CPU without a memory limit, the operating system may end the
// program instead: set `most`, or open the device with a quota. Errors (thrown): as detail::find_batch_size().
template <Module M, typename MakeBatch>
  requires TrainableOn<M, std::invoke_result_t<MakeBatch&, std::int64_t>>
FoundBatchSize find_batch_size(const M& model, const optim::ModuleOptimizer& optimizer, MakeBatch&& make_batch,
                               const FindBatchSizeOptions& options = {}) {
  return detail::find_batch_size(options, [&](std::int64_t size) {
    M copy = model;
    optim::ModuleOptimizer steps = optimizer;
    std::optional<Device> device;
    for (std::int64_t i = 0; i < options.steps; ++i) {
      const auto batch = make_batch(size);
      const Tensor<1> loss{copy.step(batch).step_output().loss};
      device = loss.device();
      // With a rate of 0: only the memory of a step matters.
      steps.step(0, copy.walk(), optim::GradientsParams::from_grads(loss.backward(), copy));
      (void)loss.detach().item();
    }
    if (device) device->sync();
  });
}

}  // namespace burn::train
