// Optimizers over 100 steps, and schedules, against PyTorch, whose numbers make_trajectories.py has written to
// tests/train/trajectories.txt.
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "nn/nn.h"
#include "train/lr/compose.h"
#include "train/lr/cycles.h"
#include "train/lr/plateau.h"
#include "train/optim/optim.h"

namespace burn {
namespace {

using optim::ModuleOptimizer;

constexpr const char* kFile = "tests/train/trajectories.txt";
constexpr int kSteps = 100;

// The numbers of the file, by name, then by step.
std::map<std::string, std::map<int, std::vector<double>>> read_trajectories() {
  std::map<std::string, std::map<int, std::vector<double>>> all;
  std::ifstream lines(kFile);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    int step = 0;
    words >> name >> step;
    auto& numbers = all[name][step];
    for (double number = 0; words >> number;) numbers.push_back(number);
  }
  return all;
}

// The same numbers as draw() in make_trajectories.py.
std::vector<float> draw(std::uint64_t t) {
  constexpr std::uint64_t kModulus = 1ull << 31;
  auto state = (12345 + 6789 * t) % kModulus;
  std::vector<float> numbers;
  for (int i = 0; i < 12; ++i) {
    state = (state * 1103515245 + 12345) % kModulus;
    numbers.push_back((static_cast<float>((state >> 16) % 2001) - 1000) / 1024);
  }
  return numbers;
}

struct Single {
  Param<2> matrix;
  Param<1> vector;  // a case uses one of the two
  BURN_MODULE(Single, matrix, vector)
};

struct Case {
  ModuleOptimizer optimizer;
  double lr;
  bool is_vector = false;
};

std::map<std::string, Case> cases() {
  using namespace optim;
  auto momentum = SgdConfig::pytorch(0.9), nesterov = SgdConfig::pytorch(0.8);
  momentum.weight_decay = 0.1;
  nesterov.momentum->nesterov = true;
  auto amsgrad = AdamConfig::pytorch();
  amsgrad.weight_decay = 0.1;
  amsgrad.amsgrad = true;
  auto centered = RmsPropConfig::pytorch();
  centered.momentum = 0.5;
  centered.centered = true;
  centered.weight_decay = 0.1;
  auto ada_grad = AdaGradConfig::pytorch();
  ada_grad.lr_decay = 0.01;
  return {{"sgd", {SgdConfig::pytorch(), 0.05}},
          {"sgd.momentum", {momentum, 0.05}},
          {"sgd.nesterov", {nesterov, 0.05}},
          {"adam", {AdamConfig::pytorch(), 0.01}},
          {"adam.amsgrad", {amsgrad, 0.01}},
          {"adamw", {AdamWConfig::pytorch(), 0.01}},
          {"rms_prop", {RmsPropConfig::pytorch(), 0.01}},
          {"rms_prop.centered", {centered, 0.01}},
          {"ada_grad", {ada_grad, 0.05}},
          {"adan", {AdanConfig{}, 0.01}},
          {"adan.decay",
           {AdanConfig{.beta_1 = 0.9, .beta_2 = 0.8, .beta_3 = 0.95, .epsilon = 1e-6, .weight_decay = 0.1}, 0.02}},
          {"nadam", {NAdamConfig::pytorch(), 2e-3}},
          {"nadam.decay", {NAdamConfig{.weight_decay = 0.1, .momentum_decay = 0.02}, 0.01}},
          {"radam", {RAdamConfig::pytorch(), 0.01}},
          {"radam.decay", {RAdamConfig{.beta_1 = 0.8, .beta_2 = 0.99, .weight_decay = 0.1}, 0.01}},
          {"ada_delta", {AdaDeltaConfig::pytorch(), 1}},
          {"ada_delta.decay", {AdaDeltaConfig{.rho = 0.95, .weight_decay = 0.1}, 0.5}},
          {"lion", {LionConfig{}, 0.01}},
          {"lion.decay", {LionConfig{.beta_1 = 0.95, .beta_2 = 0.98, .weight_decay = 0.1}, 0.01}},
          {"ada_factor", {AdaFactorConfig::pytorch(), 0.01}},
          {"ada_factor.decay", {AdaFactorConfig{.beta2_decay = -0.6, .clip_threshold = 0.5, .weight_decay = 0.1}, 0.1}},
          {"ada_factor.vector", {AdaFactorConfig::pytorch(), 0.01, true}}};
}

std::map<int, std::vector<float>> trajectory_of(const Case& of, const std::map<int, std::vector<double>>& wanted) {
  const Device device = Device{"cpu"}.autodiff();
  const auto drawn = [&](std::uint64_t t) { return Tensor<2>::from_data(TensorData(draw(t), {3, 4}), device); };
  Single net{drawn(0), drawn(0).slice({s(0, 1)}).reshape<1>({4})};
  optim::Optimizer<Single> optim{of.optimizer};
  std::map<int, std::vector<float>> seen;
  for (int t = 1; t <= kSteps; ++t) {
    const auto gradient = drawn(static_cast<std::uint64_t>(t)).inner();
    GradientsParams gradients;
    if (of.is_vector)
      gradients.put(net.vector.id(),
                    (gradient.slice({s(0, 1)}).reshape<1>({4}) + net.vector.val().inner() / 4).value());
    else
      gradients.put(net.matrix.id(), (gradient + net.matrix.val().inner() / 4).value());
    net = optim.step(of.lr, std::move(net), std::move(gradients));
    if (wanted.contains(t))
      seen[t] = of.is_vector ? net.vector.val().to_data().to_vec<float>() : net.matrix.val().to_data().to_vec<float>();
  }
  return seen;
}

TEST(Trajectories, OfOptimizersAreThoseOfPyTorchOver100Steps) {
  const auto wanted = read_trajectories();
  const auto all = cases();
  ASSERT_EQ(all.size(), 22u);
  for (const auto& [name, of] : all) {
    const auto found = wanted.find(name);
    ASSERT_NE(found, wanted.end()) << kFile << " has no " << name;
    ASSERT_TRUE(found->second.contains(kSteps));
    const auto seen = trajectory_of(of, found->second);
    for (const auto& [step, numbers] : found->second) {
      ASSERT_EQ(seen.at(step).size(), numbers.size()) << name;
      for (std::size_t i = 0; i < numbers.size(); ++i)
        EXPECT_NEAR(seen.at(step)[i], numbers[i], 1e-5) << name << " step " << step << " element " << i;
    }
  }
}

struct Place {
  Param<1> x;
  BURN_MODULE(Place, x)
};

// Rosenbrock's function of 4 numbers, as in make_trajectories.py.
std::pair<Tensor<1>, GradientsParams> valley(const Place& at) {
  const auto x = at.x.val(), before = x.slice({s(0, 3)}), after = x.slice({s(1, 4)});
  const auto loss = ((after - before.square()).square() * 100 + (1.0 - before).square()).sum();
  return {loss, GradientsParams::from_grads(loss.backward(), at)};
}

TEST(Trajectories, OfLbfgsAreThoseOfPyTorch) {
  using optim::LbfgsConfig;
  using optim::LineSearchFn;
  struct LbfgsCase {
    LbfgsConfig config;
    double lr = 1;
  };
  const std::map<std::string, LbfgsCase> all{
      {"lbfgs.wolfe", {{.max_iter = 4, .line_search = LineSearchFn::strong_wolfe}}},
      {"lbfgs.fixed", {{.max_iter = 3}, 0.1}},
      {"lbfgs.short", {{.max_iter = 5, .history_size = 2, .line_search = LineSearchFn::strong_wolfe}}}};
  const Device device = Device{"cpu"}.autodiff();
  const auto wanted = read_trajectories();
  for (const auto& [name, of] : all) {
    Place at{Tensor<1>::from_data(TensorData(std::vector<double>{-0.5, 0.25, 0.75, 0.5}, {4}), {device, DType::f64})};
    auto optim = of.config.init<Place>();
    ASSERT_TRUE(wanted.contains(name));
    for (const auto& [step, numbers] : wanted.at(name)) {
      at = optim.step(of.lr, at, valley).first;
      const auto seen = at.x.val().to_data().to_vec<double>();
      for (std::size_t i = 0; i < numbers.size(); ++i)
        EXPECT_NEAR(seen[i], numbers[i], 1e-7) << name << " step " << step << " element " << i;
    }
  }
}

TEST(Trajectories, OfSchedulesAreThoseOfPyTorch) {
  using Rule = lr::CycleRule;
  std::map<std::string, lr::Scheduler> schedules{
      {"one_cycle", lr::OneCycle{.max_lr = 0.5, .steps = 40}},
      {"one_cycle.linear", lr::OneCycle{.max_lr = 0.5,
                                        .steps = 40,
                                        .rising = 0.4,
                                        .annealing = lr::Annealing::linear,
                                        .div_factor = 10,
                                        .final_div_factor = 100}},
      {"one_cycle.three", lr::OneCycle{.max_lr = 0.5, .steps = 40, .rising = 0.25, .three_phases = true}},
      {"cosine_restarts", lr::CosineWarmRestarts{.initial = 0.5, .min_lr = 0.01, .steps = 5}},
      {"cosine_restarts.longer", lr::CosineWarmRestarts{.initial = 0.5, .steps = 3, .longer = 2}},
      {"polynomial", lr::Polynomial{.initial = 0.5, .power = 2, .steps = 10}},
      {"multi_step", lr::MultiStep{.initial = 0.5, .milestones = {3, 7, 8}, .gamma = 0.5}},
      {"cyclic", lr::Cyclic{.min_lr = 0.1, .max_lr = 0.5, .steps_up = 4, .steps_down = 6}},
      {"cyclic.halving", lr::Cyclic{.min_lr = 0.1, .max_lr = 0.5, .steps_up = 5, .rule = Rule::halving}},
      {"cyclic.exponential",
       lr::Cyclic{.min_lr = 0.1, .max_lr = 0.5, .steps_up = 5, .rule = Rule::exponential, .gamma = 0.9}},
      {"plateau", lr::ReduceOnPlateau{.initial = 0.5, .factor = 0.5, .patience = 2, .cooldown = 1, .min_lr = 0.01}},
      {"plateau.higher",
       lr::ReduceOnPlateau{
           .initial = 0.5, .patience = 3, .threshold = 0.01, .is_relative = false, .goal = lr::Goal::highest}}};
  const auto wanted = read_trajectories();
  for (auto& [name, schedule] : schedules) {
    const auto found = wanted.find("lr." + name);
    ASSERT_NE(found, wanted.end()) << kFile << " has no lr." << name;
    const auto& rates = found->second.at(0);
    for (std::size_t i = 0; i < rates.size(); ++i) {
      EXPECT_NEAR(schedule.step(), rates[i], 1e-8) << name << " step " << i;
      if (schedule.needs_metric())
        schedule.tell(static_cast<double>(draw(i + 1)[0]) / (1 + static_cast<double>(i + 1) / 4));
    }
  }
}

}  // namespace
}  // namespace burn
