// A Wasserstein GAN with gradient penalty (Gulrajani et al., arXiv:1704.00028) that learns to generate points of a ring
// of eight clusters: two networks, two named optimizers, a step that computes its gradients itself, and averaged
// weights.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "burn/burn.h"
#include "data/random.h"

namespace wgan {

using namespace burn;

constexpr std::int64_t kClusters = 8, kLatent = 4;
constexpr float kDeviation = 0.05F;  // standard deviation of a cluster; the ring has radius 1
constexpr double kPenalty = 1;       // weight of the gradient penalty

struct Point {
  std::array<float, 2> x;
};

inline std::array<float, 2> center(std::int64_t cluster) {
  const float angle = 2 * std::numbers::pi_v<float> * static_cast<float>(cluster) / kClusters;
  return {std::cos(angle), std::sin(angle)};
}

inline std::vector<Point> ring(std::size_t count, std::uint64_t seed) {
  data::Rng rng{seed};
  std::vector<Point> points;
  for (std::size_t i = 0; i < count; ++i) {
    const auto [x, y] = center(static_cast<std::int64_t>(rng.below(kClusters)));
    // A sum of uniform numbers approximates a normal one well enough here.
    const auto noise = [&] { return kDeviation * (rng.uniform() + rng.uniform() + rng.uniform() - 1.5F) * 2; };
    points.push_back({{x + noise(), y + noise()}});
  }
  return points;
}

struct Batch {
  Tensor<2> points;  // [batch, 2]
};

struct Batcher {
  Device device;

  Batch batch(const std::vector<Point>& points) const {
    std::vector<float> numbers;
    for (const auto& point : points) numbers.insert(numbers.end(), point.x.begin(), point.x.end());
    const auto count = static_cast<std::int64_t>(points.size());
    return {Tensor<2>::from_data(TensorData(std::move(numbers), {count, 2}), device)};
  }
};

struct Generator {
  nn::Linear first, second, last;
  BURN_MODULE(Generator, first, second, last)

  static Generator init(const Device& device, std::int64_t width) {
    return {.first = nn::LinearConfig{.d_input = kLatent, .d_output = width}.init(device),
            .second = nn::LinearConfig{.d_input = width, .d_output = width}.init(device),
            .last = nn::LinearConfig{.d_input = width, .d_output = 2}.init(device)};
  }
  Tensor<2> forward(const Tensor<2>& z) const { return last(second(first(z).relu()).relu()); }
};

struct Critic {
  nn::Linear first, second, last;
  BURN_MODULE(Critic, first, second, last)

  static Critic init(const Device& device, std::int64_t width) {
    return {.first = nn::LinearConfig{.d_input = 2, .d_output = width}.init(device),
            .second = nn::LinearConfig{.d_input = width, .d_output = width}.init(device),
            .last = nn::LinearConfig{.d_input = width, .d_output = 1}.init(device)};
  }
  Tensor<2> forward(const Tensor<2>& x) const { return last(second(first(x).relu()).relu()); }

  // The gradient penalty: the mean of (|gradient of the critic| - 1)^2 over points between real and generated ones,
  // both [batch, 2]. Its own gradient is a second derivative.
  Tensor<1> slope_penalty(const Tensor<2>& real, const Tensor<2>& fake) const {
    const auto share = Tensor<2>::random({real.dim(0), 1}, Distribution::uniform(0, 1), real.device());
    const auto between = (real * share + fake * (1 - share)).detach().require_grad();
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): it throws where there is no gradient
    const auto slope = between.grad(forward(between).sum().backward({.create_graph = true})).value();
    const auto beyond = linalg::vector_norm(slope, 2, 1) - 1;
    return (beyond * beyond).mean();
  }
};

struct Gan {
  Generator generator;
  Critic critic;
  BURN_MODULE(Gan, generator, critic)

  static Gan init(const Device& device, std::int64_t width = 64) {
    return {.generator = Generator::init(device, width), .critic = Critic::init(device, width)};
  }

  Tensor<2> sample(std::int64_t count, const Device& device) const {
    return generator.forward(Tensor<2>::random({count, kLatent}, Distribution::normal(0, 1), device));
  }

  // Computes the gradients of both networks, each from its own loss: the critic's loss, and for the generator the
  // critic's rating of its points. Neither loss changes the other's network.
  train::TrainOutput<train::RegressionOutput> train_step(const Batch& batch) const {
    const auto fake = sample(batch.points.dim(0), batch.points.device());
    const auto of_critic = critic.forward(fake.detach()).mean() - critic.forward(batch.points).mean() +
                           critic.slope_penalty(batch.points, fake) * kPenalty;
    const auto of_generator = -critic.forward(fake).mean();
    auto critics = of_critic.backward(), generators = of_generator.backward();
    auto gradients = GradientsParams::from_module(critics, critic);
    auto others = GradientsParams::from_module(generators, generator);
    optim::GradientsAccumulator both;
    both.accumulate(std::move(gradients));
    both.accumulate(std::move(others));
    return {both.grads(), {of_critic, fake, batch.points}};
  }

  // The mean distance of generated points from the nearest center: 0.06 for points of the ring itself.
  train::RegressionOutput valid_step(const Batch& batch) const {
    const auto fake = sample(batch.points.dim(0), batch.points.device());
    std::vector<Tensor<2>> distances;
    for (std::int64_t i = 0; i < kClusters; ++i) {
      const auto [x, y] = center(i);
      const auto away = fake - Tensor<2>::from_data(TensorData(std::vector<float>{x, y}, {1, 2}), fake.device());
      distances.push_back((away * away).sum_dim(1));
    }
    const auto nearest = Tensor<2>::cat(distances, 1).min_dim(1).sqrt();
    return {nearest.mean(), fake, batch.points};
  }

  // Five steps of the critic for one of the generator.
  void optimize(lr::ModuleLearningRate&, GradientsParams&, train::OptimizerChoice& choice) const {
    if (choice.batch() % 5 != 4) choice.skip("generator");
  }
};

struct Options {
  std::string device = "cpu", artifacts = "runs/wgan";
  std::int64_t epochs = 40;
  std::size_t points = 20'000, batch_size = 200;
  std::string dashboard;  // address of a page that shows the training: "127.0.0.1:6006"; empty: none
};

struct Trained {
  std::vector<double> distances;  // mean distance of generated points to the nearest center, after each epoch
  std::int64_t least = 0;         // of 1000 generated points, the number near the center with the fewest
};

// The number of points (of [count, 2]) within four deviations of the center that has the fewest.
inline std::int64_t least_near_a_center(const std::vector<float>& points) {
  std::array<std::int64_t, kClusters> near{};
  for (std::size_t i = 0; i + 1 < points.size(); i += 2) {
    for (std::int64_t k = 0; k < kClusters; ++k) {
      const auto [x, y] = center(k);
      if (std::hypot(points[i] - x, points[i + 1] - y) < 4 * kDeviation) near[static_cast<std::size_t>(k)] += 1;
    }
  }
  return *std::ranges::min_element(near);
}

inline Trained train(const Options& options) {
  const Device device{options.device};
  device.seed(1);
  auto builder = data::DataLoaderBuilder(Batcher{device}).batch_size(options.batch_size);
  const auto valid = builder.build(data::InMemDataset<Point>(ring(1000, 2)));
  const auto loader = builder.shuffle(1).build(data::InMemDataset<Point>(ring(options.points, 1)));
  const optim::AdamConfig adam{.beta_1 = 0.5, .beta_2 = 0.9};
  constexpr double kRate = 1e-3;
  auto training = train::SupervisedTraining(options.artifacts, loader, valid)
                      .epochs(options.epochs)
                      .seed(1)
                      .ema({.decay = 0.995})
                      .interrupter(train::Interrupter::on_ctrl_c());
  if (!options.dashboard.empty()) training.dashboard(options.dashboard);
  const auto result = training.launch(
      train::Learner(Gan::init(device.autodiff()), {{"critic", ParamGroup::from_path("critic"), adam, kRate},
                                                    {"generator", ParamGroup::from_path("generator"), adam, kRate}}));
  Trained trained;
  for (const auto& epoch : result.report.history) trained.distances.push_back(epoch.valid.at(0));
  if (!result.interrupted())
    trained.least = least_near_a_center(result.averaged().valid().sample(1000, device).to_data().to_vec<float>());
  return trained;
}

}  // namespace wgan
