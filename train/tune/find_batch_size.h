// The largest batch that a training step of a model has memory for.
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
  std::int64_t first = 1;       // doubled as long as there is memory
  std::int64_t most = 1 << 16;  // not beyond
  std::int64_t steps = 2;       // of each size: the second has what the optimizer remembers
  double precision = 1.0 / 16;  // how far apart the results may be, as a part of the size
  BURN_CONFIG(FindBatchSizeOptions, first, most, steps, precision)
};

struct FoundBatchSize {
  std::int64_t size = 0;                    // the largest that there was memory for
  std::optional<std::int64_t> too_large{};  // the smallest that there was none for; none: `most` was reached
  std::string why{};                        // what the device said then
};

namespace detail {

// Calls fits(size), which throws RESOURCE_EXHAUSTED where there is no memory. Errors (thrown): options out of range; no
// memory for `first`, with what the device said; whatever else is thrown.
FoundBatchSize find_batch_size(const FindBatchSizeOptions& options, const std::function<void(std::int64_t)>& fits);

}  // namespace detail

// Takes steps of a copy of the model with what make_batch(size) gives, of doubled sizes until the device's memory or
// quota is at its end, then of sizes between. Memory that others take or give back meanwhile counts. `model` and
// `optimizer` stay as they are. On a CPU whose memory has no limit set, the operating system may end the program
// instead: give `most`, or open the device with a quota. Errors (thrown): as detail::find_batch_size().
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
      // Of a rate of 0: what counts is the memory that a step takes.
      steps.step(0, copy.walk(), optim::GradientsParams::from_grads(loss.backward(), copy));
      (void)loss.detach().item();
    }
    if (device) device->sync();
  });
}

}  // namespace burn::train
