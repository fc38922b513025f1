// What becomes of the gradients of a batch: they are gathered over batches, summed between devices, scaled back,
// clipped, and handed to the optimizers; the averages follow. All of it is recorded, as part of the step's program;
// nothing is read.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/device.h"
#include "train/learner/optimizers.h"
#include "train/learner/options.h"
#include "train/learner/work.h"
#include "train/optim/ema.h"
#include "train/optim/grad_scaler.h"
#include "train/strategy/strategy.h"

namespace burn::train {

// One thread. What it is given outlives it.
class Update {
 public:
  // Errors: clip_norm with an optimizer that clips by itself; a grad_scaler with a strategy that does not step every
  // replica.
  Update(const TrainingOptions& options, Work& work, Optimizers& optimizers);

  // The gradients of a batch, by replica. True: a step has been recorded and sent; false: it is still to come.
  bool add(std::vector<Work::Part> parts);
  // A step with what is gathered. False: nothing is.
  bool finish();
  bool is_between_steps() const { return accumulated_ == 0; }
  std::int64_t steps() const { return steps_; }  // since the run began

  const std::vector<optim::ModuleAverage>* averages() const { return averages_.empty() ? nullptr : &averages_; }

  // What a checkpoint has of it, beside the model.
  Record optimizer_record(bool as_snapshot) const;
  void save(std::map<std::string, Record>& more) const;
  void load(const Checkpoint& checkpoint);

 private:
  optim::GradientsParams gradients_of(Work::Part& part, std::size_t replica, bool is_alone);
  void watch(const client::Value& loss);
  // `choice`: of the step; a model that chooses does it for each replica, all alike.
  void prepare(std::size_t replica, lr::ModuleLearningRate& rates, optim::GradientsParams& sums,
               OptimizerChoice& choice);
  void step();

  const TrainingOptions& options_;
  Work& work_;
  Optimizers& optimizers_;
  const std::vector<nn::ModuleWalk> replicas_;
  const std::unique_ptr<Learning> learning_;
  std::vector<optim::GradientsAccumulator> gradients_;  // by replica
  std::vector<optim::GradScaler> scalers_;              // by replica; none without a scaler
  std::vector<optim::ModuleAverage> averages_;          // by replica; none without ema()
  std::optional<Tensor<1, Bool>> finite_losses_;        // of the batches gathered, for OnNan::skip
  std::int64_t accumulated_ = 0;                        // batches gathered
  std::int64_t steps_ = 0;
};

// Of a checkpoint: the averages of the weights, which are put in their place by their names.
inline constexpr const char* kAverageRecordName = "ema";

// The devices of the replicas.
std::vector<Device> devices_of(const std::vector<nn::ModuleWalk>& replicas);

}  // namespace burn::train
