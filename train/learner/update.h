// Processes the gradients of a batch: accumulates them over batches, sums them over devices, unscales, clips, and
// passes them to the optimizers; then updates the averages. All of it is recorded, as part of the step's program;
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

// One thread. The constructor's arguments must outlive it.
class Update {
 public:
  // Errors: clip_norm with an optimizer that clips itself; a grad_scaler with a strategy that does not step every
  // replica.
  Update(const TrainingOptions& options, Work& work, Optimizers& optimizers);

  // Adds the gradients of a batch, by replica. True: a step has been recorded and sent; false: more batches are needed.
  bool add(std::vector<Work::Part> parts);
  // Takes a step with the accumulated gradients. False: there are none.
  bool finish();
  bool is_between_steps() const { return accumulated_ == 0; }
  std::int64_t steps() const { return steps_; }  // since the run began

  const std::vector<optim::ModuleAverage>* averages() const { return averages_.empty() ? nullptr : &averages_; }

  // The parts of a checkpoint besides the model.
  Record optimizer_record(bool as_snapshot) const;
  void save(std::map<std::string, Record>& more) const;
  void load(const Checkpoint& checkpoint);

 private:
  optim::GradientsParams gradients_of(Work::Part& part, std::size_t replica, bool is_alone);
  void watch(const client::Value& loss);
  // `choice`: of the step; a model's optimize() sets it for each replica, each time equally.
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
  std::optional<Tensor<1, Bool>> finite_losses_;        // of the accumulated batches, for OnNan::skip
  std::int64_t accumulated_ = 0;                        // accumulated batches
  std::int64_t steps_ = 0;
};

// The record in a checkpoint with the averages of the weights, by the names of the weights.
inline constexpr const char* kAverageRecordName = "ema";

// The devices of the replicas.
std::vector<Device> devices_of(const std::vector<nn::ModuleWalk>& replicas);

}  // namespace burn::train
