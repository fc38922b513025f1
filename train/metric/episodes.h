// Metrics of reinforcement learning, per episode. A step returns them as tensors of any size, with one element for each
// episode that ended in it; a loop that has the numbers on the host calls add_number().
#pragma once

#include <string>
#include <vector>

#include "train/metric/metric.h"

namespace burn::metric {

// The mean of the elements of one tensor over all batches.
class MeanOfNumbers : public CountedMetric {
 public:
  void add_number(double number);
  void take(const MeasuredBatch& batch) override;
  Measured record(const StepOutput& output) const override;
  std::vector<Need> needs() const override;
  double value() const override { return counts().empty() ? ratio(0, 0) : ratio(counts()[0], counts()[1]); }
  void load_state(std::span<const double> state) override;

 protected:
  explicit MeanOfNumbers(std::string needed) : needed_(std::move(needed)) {}

 private:
  std::string needed_;
};

// The sum of the rewards of an episode; tensor "cumulative_reward".
class CumulativeReward : public MeanOfNumbers {
 public:
  CumulativeReward() : MeanOfNumbers("cumulative_reward") {}
  std::string name() const override { return "Cum. Reward"; }
  std::string label() const override { return "reward"; }
  bool higher_is_better() const override { return true; }
  ValueFormat value_format() const override { return {.decimals = 2}; }
};

// The number of steps of an episode; tensor "episode_length".
class EpisodeLength : public MeanOfNumbers {
 public:
  EpisodeLength() : MeanOfNumbers("episode_length") {}
  std::string name() const override { return "Episode length"; }
  std::string label() const override { return "length"; }
  bool higher_is_better() const override { return true; }
  ValueFormat value_format() const override { return {.decimals = 0, .unit = " steps"}; }
};

// The share of actions that are taken at random; tensor "exploration_rate".
class ExplorationRate : public MeanOfNumbers {
 public:
  ExplorationRate() : MeanOfNumbers("exploration_rate") {}
  std::string name() const override { return "Exploration rate"; }
  std::string label() const override { return "explore"; }
  bool higher_is_better() const override { return false; }
  ValueFormat value_format() const override { return {.decimals = 3}; }
};

}  // namespace burn::metric
