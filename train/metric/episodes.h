// Numbers of reinforcement learning, by episode. A step gives them as tensors of any size, one element for each episode
// that ended in it, or none; a loop that has them on the host says add_number().
#pragma once

#include <string>
#include <vector>

#include "train/metric/metric.h"

namespace burn::metric {

// The mean of the numbers of one tensor over all batches.
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

// The sum of the rewards of an episode: "cumulative_reward".
class CumulativeReward : public MeanOfNumbers {
 public:
  CumulativeReward() : MeanOfNumbers("cumulative_reward") {}
  std::string name() const override { return "Cum. Reward"; }
  std::string label() const override { return "reward"; }
  bool higher_is_better() const override { return true; }
  ValueFormat value_format() const override { return {.decimals = 2}; }
};

// The steps of an episode: "episode_length".
class EpisodeLength : public MeanOfNumbers {
 public:
  EpisodeLength() : MeanOfNumbers("episode_length") {}
  std::string name() const override { return "Episode length"; }
  std::string label() const override { return "length"; }
  bool higher_is_better() const override { return true; }
  ValueFormat value_format() const override { return {.decimals = 0, .unit = " steps"}; }
};

// The share of actions that are taken at random: "exploration_rate".
class ExplorationRate : public MeanOfNumbers {
 public:
  ExplorationRate() : MeanOfNumbers("exploration_rate") {}
  std::string name() const override { return "Exploration rate"; }
  std::string label() const override { return "explore"; }
  bool higher_is_better() const override { return false; }
  ValueFormat value_format() const override { return {.decimals = 3}; }
};

}  // namespace burn::metric
