// Training of modules with one parameter at several places: it has one gradient, one step, and is counted once.
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/capture/capture.h"
#include "nn/layer/embedding.h"
#include "nn/layer/linear.h"
#include "nn/module/fresh.h"
#include "tests/support/error_of.h"
#include "train/optim/adam.h"
#include "train/optim/lbfgs.h"
#include "train/optim/muon.h"
#include "train/optim/sgd.h"

namespace burn {
namespace {

using optim::ModuleOptimizer;
using test::error_of;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Matrix = std::vector<double>;  // 2 x 2, row by row

constexpr int kSteps = 50;

// --- reference in plain C++ ------------------------------------------------------------------------------------------

Matrix product(const Matrix& a, const Matrix& b) {
  return {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
}
Matrix transposed(const Matrix& a) { return {a[0], a[2], a[1], a[3]}; }
Matrix sum(const Matrix& a, const Matrix& b, double factor = 1) {
  return {a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2], a[3] + factor * b[3]};
}

const Matrix kInput{0.5, -1, 1, 0.25}, kTarget{1, 0.5, -0.5, 2}, kStart{0.9, -0.2, 0.3, 1.1};
constexpr int kDepth = 3;

// The gradient of |x w w w - target|^2 / 2 with respect to w: the sum over its three places.
Matrix gradient_at(const Matrix& w) {
  std::vector<Matrix> inputs{kInput};
  for (int i = 0; i < kDepth; ++i) inputs.push_back(product(inputs.back(), w));
  Matrix error = sum(inputs.back(), kTarget, -1), total(4, 0);
  for (int i = kDepth; i-- > 0;) {
    total = sum(total, product(transposed(inputs[static_cast<std::size_t>(i)]), error));
    error = product(error, transposed(w));
  }
  return total;
}

// The formulas of torch.optim.SGD(momentum, dampening 0), Adam and Muon (Nesterov, Newton and Schulz, "original").
Matrix sgd_by_hand(double lr, double momentum) {
  Matrix w = kStart, velocity;
  for (int step = 0; step < kSteps; ++step) {
    const auto g = gradient_at(w);
    velocity = velocity.empty() ? g : sum(g, velocity, momentum);
    w = sum(w, velocity, -lr);
  }
  return w;
}
Matrix adam_by_hand(double lr, double epsilon) {
  Matrix w = kStart, m(4, 0), v(4, 0);
  for (int step = 1; step <= kSteps; ++step) {
    const auto g = gradient_at(w);
    for (std::size_t i = 0; i < 4; ++i) {
      m[i] = 0.9 * m[i] + 0.1 * g[i];
      v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
      w[i] -= lr * (m[i] / (1 - std::pow(0.9, step))) / (std::sqrt(v[i] / (1 - std::pow(0.999, step))) + epsilon);
    }
  }
  return w;
}
Matrix muon_by_hand(const optim::MuonConfig& config, double lr) {
  Matrix w = kStart, velocity;
  for (int step = 0; step < kSteps; ++step) {
    const auto g = gradient_at(w);
    const auto& momentum = config.momentum;
    velocity = velocity.empty() ? g : sum(sum(Matrix(4, 0), g, 1 - momentum.dampening), velocity, momentum.momentum);
    Matrix x = momentum.nesterov ? sum(g, velocity, momentum.momentum) : velocity;
    const double norm = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3]);
    for (auto& element : x) element /= std::max(norm, config.epsilon);
    const auto& [a, b, c] = config.ns_coefficients;
    for (std::int64_t i = 0; i < config.ns_steps; ++i) {
      const auto square = product(x, transposed(x));
      const auto inner = sum(sum(Matrix(4, 0), square, b), product(square, square), c);
      x = sum(sum(Matrix(4, 0), x, a), product(inner, x));
    }
    w = sum(sum(w, w, -lr * config.weight_decay), x, -lr);
  }
  return w;
}

// --- the modules -----------------------------------------------------------------------------------------------------

// Thrice has a matrix at three places, Once uses one place three times: there, autodiff sums the gradients by itself.
struct Thrice {
  std::vector<nn::Linear> layers;
  BURN_MODULE(Thrice, layers)
  Tensor<2> forward(Tensor<2> x) const {
    for (const auto& layer : layers) x = layer(x);
    return x;
  }
};
struct Once {
  nn::Linear layer;
  BURN_MODULE(Once, layer)
  Tensor<2> forward(Tensor<2> x) const {
    for (int i = 0; i < kDepth; ++i) x = layer(x);
    return x;
  }
};

class TiedTraining : public ::testing::Test {
 protected:
  Device device = Device{"cpu"}.autodiff();
  TensorOptions f64{device, DType::f64};

  Tensor<2> matrix(const Matrix& numbers) const { return Tensor<2>::from_data(TensorData(numbers, {2, 2}), f64); }
  nn::Linear layer() const { return {.weight = matrix(kStart), .bias = std::nullopt}; }
  Thrice thrice() const { return {std::vector<nn::Linear>(kDepth, layer())}; }
  Once once() const { return {layer()}; }

  template <typename M>
  Tensor<1> loss_of(const M& module) const {
    return (module.forward(matrix(kInput)) - matrix(kTarget)).square().sum() * 0.5;
  }
  template <typename M>
  M trained(M module, const ModuleOptimizer& engine, double lr, int steps = kSteps) const {
    optim::Optimizer<M> optim{engine};
    for (int i = 0; i < steps; ++i) {
      const auto loss = loss_of(module);
      module = optim.step(lr, std::move(module), GradientsParams::from_grads(loss.backward(), module));
    }
    return module;
  }
  static Matrix numbers(const nn::Linear& layer) { return layer.weight.val().to_data().to_vec<double>(); }
  static void expect_all(const Thrice& module, const Matrix& want, double tolerance) {
    for (const auto& layer : module.layers) {
      EXPECT_THAT(numbers(layer), ::testing::Pointwise(::testing::DoubleNear(tolerance), want));
      EXPECT_EQ(layer.weight.slot().value.tape().get(), module.layers[0].weight.slot().value.tape().get());
    }
  }
};

TEST_F(TiedTraining, FiftyStepsOfSgdAreThoseByHand) {
  const optim::SgdConfig config{.momentum = optim::MomentumConfig{.momentum = 0.9, .dampening = 0}};
  const auto want = sgd_by_hand(0.005, 0.9);
  expect_all(trained(thrice(), config, 0.005), want, 1e-12);
  EXPECT_GT(std::abs(want[0] - kStart[0]), 0.01);
}

TEST_F(TiedTraining, FiftyStepsOfAdamAreThoseByHand) {
  expect_all(trained(thrice(), optim::AdamConfig{.epsilon = 1e-8}, 0.01), adam_by_hand(0.01, 1e-8), 1e-10);
}

TEST_F(TiedTraining, FiftyStepsOfMuonAreThoseByHand) {
  expect_all(trained(thrice(), optim::MuonConfig{}, 0.01), muon_by_hand(optim::MuonConfig{}, 0.01), 1e-8);
}

TEST_F(TiedTraining, EveryOptimizerStepsAsIfThePlacesWereOne) {
  const std::vector<ModuleOptimizer> engines{optim::SgdConfig{}, optim::AdamWConfig{.amsgrad = true},
                                             optim::SgdConfig{.grad_clipping = {{.norm = 0.1}}}, optim::MuonConfig{}};
  for (const auto& engine : engines) {
    const auto want = numbers(trained(once(), engine, 0.01).layer);
    expect_all(trained(thrice(), engine, 0.01), want, 0);
    EXPECT_NE(want, kStart);
  }
}

TEST_F(TiedTraining, LbfgsMovesAllPlacesAsOne) {
  const auto fifty = [&](auto module) {
    using M = decltype(module);
    auto optim = optim::LbfgsConfig{.max_iter = 50, .line_search = optim::LineSearchFn::strong_wolfe}.init<M>();
    const auto step = [&](const M& at) {
      const auto loss = loss_of(at);
      return std::pair{loss, GradientsParams::from_grads(loss.backward(), at)};
    };
    return optim.step(1, module, step);
  };
  const auto [want, least] = fifty(once());
  const auto [got, loss] = fifty(thrice());
  expect_all(got, numbers(want.layer), 0);
  EXPECT_EQ(loss, least);
  EXPECT_LT(loss, loss_of(once()).into_scalar<double>());
}

TEST_F(TiedTraining, GradientsCountOnceInNumberAndNorm) {
  const auto module = thrice();
  auto gradients = GradientsParams::from_grads(loss_of(module).backward(), module);
  EXPECT_EQ(gradients.size(), 1u);
  double squares = 0;
  for (const double g : gradient_at(kStart)) squares += g * g;
  EXPECT_DOUBLE_EQ(gradients.clip_norm(1e9).into_scalar<double>(), std::sqrt(squares));
  auto both = loss_of(module).backward();
  EXPECT_EQ(GradientsParams::from_module(both, module.layers[1]).size(), 1u);
}

// A place that was frozen and thawed by itself is a leaf of its own.
TEST_F(TiedTraining, GradientsOfSeveralLeavesAddUp) {
  auto module = thrice();
  module.layers[1] = module.layers[1].no_grad().require_grad();
  auto of_leaves = loss_of(module).backward();
  EXPECT_EQ(module.num_params(), 4);  // visiting the module does not merge the leaves
  (void)module.into_record();
  const auto gradients = GradientsParams::from_grads(std::move(of_leaves), module);
  EXPECT_EQ(gradients.size(), 1u);
  EXPECT_THAT(gradients.get(module.layers[0].weight)->to_data().to_vec<double>(),
              ::testing::Pointwise(::testing::DoubleNear(1e-12), gradient_at(kStart)));
  auto optim = optim::SgdConfig{}.init<Thrice>();
  expect_all(optim.step(0.1, module, gradients), sum(kStart, gradient_at(kStart), -0.1), 1e-12);
}

TEST_F(TiedTraining, AccumulatedGradientsAreThoseOfOneParameter) {
  auto module = thrice();
  auto optim = optim::SgdConfig{}.init<Thrice>();
  optim::GradientsAccumulator sum_of;
  for (int i = 0; i < 3; ++i) sum_of.accumulate(GradientsParams::from_grads(loss_of(module).backward(), module));
  expect_all(optim.step(0.1, std::move(module), sum_of.grads()), sum(kStart, gradient_at(kStart), -0.3), 1e-12);
}

TEST_F(TiedTraining, ACapturedStepMovesAllPlaces) {
  auto module = thrice();
  auto optim = optim::AdamConfig{}.init<Thrice>();
  const auto x = matrix(kInput), target = matrix(kTarget);
  auto step = capture(
      device, [](Thrice& net, optim::Optimizer<Thrice>& optim, Scalar lr, const Tensor<2>& x, const Tensor<2>& target) {
        const auto loss = (net.forward(x) - target).square().sum() * 0.5;
        net = optim.step(lr, std::move(net), GradientsParams::from_grads(loss.backward(), net));
        return loss;
      });
  for (int i = 0; i < kSteps - 1; ++i) (void)step(module, optim, 0.01, x, target);
  EXPECT_EQ(step.replayed(), static_cast<std::size_t>(kSteps - 4));
  // One more step without capture: after a replayed step, all places share one leaf.
  const auto loss = loss_of(module);
  module = optim.step(0.01, std::move(module), GradientsParams::from_grads(loss.backward(), module));
  expect_all(module, numbers(trained(once(), optim::AdamConfig{}, 0.01).layer), 0);
}

TEST_F(TiedTraining, TheStateIsRecordedOnceAndFoundUnderEachName) {
  auto optim = optim::AdamConfig{}.init<Thrice>();
  auto module = thrice();
  const auto step = [&](optim::Optimizer<Thrice>& by, const Thrice& net) {
    return by.step(0.01, net, GradientsParams::from_grads(loss_of(net).backward(), net));
  };
  module = step(optim, module);
  const auto record = optim.to_record(module);
  EXPECT_THAT(record.names(),
              ElementsAre("layers.0.weight/moment_1", "layers.0.weight/moment_2", "layers.0.weight/step"));
  const auto want = numbers(step(optim, module).layers[0]);
  Record other_name = record, both = record;
  for (const auto* name : {"moment_1", "moment_2", "step"}) {
    const auto first = std::string{"layers.0.weight/"} + name, second = std::string{"layers.2.weight/"} + name;
    other_name.insert(second, record.get(first));
    other_name.remove(first);
    both.insert(second, record.get(first));
  }
  for (const auto& each : {record, other_name, both}) {
    auto loaded = optim::AdamConfig{}.init<Thrice>();
    loaded.load_record(module, each);
    expect_all(step(loaded, module), want, 0);
  }
  both.insert("layers.2.weight/moment_1", TensorData(Matrix{1, 2, 3, 4}, {2, 2}));
  EXPECT_THAT(error_of([&] { optim.load_record(module, both); }),
              AllOf(HasSubstr("\"layers.0.weight\" and \"layers.2.weight\" are one parameter"),
                    HasSubstr("remembers different things")));
}

TEST_F(TiedTraining, PathsInDifferentGroupsAreAnError) {
  auto module = thrice();
  const auto gradients = GradientsParams::from_grads(loss_of(module).backward(), module);
  auto optim = optim::SgdConfig{}.init<Thrice>();
  optim.with_group(ParamGroup::from_path("layers.1"), optim::AdamConfig{});
  EXPECT_THAT(error_of([&] { (void)optim.step(0.1, module, gradients); }),
              HasSubstr("\"layers.0.weight\" and \"layers.1.weight\" are one parameter, but in different groups of "
                        "optimizers: name both in a group, or none"));
  auto plain = optim::SgdConfig{}.init<Thrice>();
  lr::ModuleLearningRate rates{0.1};
  rates.with_group(ParamGroup::from_path("layers.2"), 0.2);
  EXPECT_THAT(error_of([&] { (void)plain.step(rates, module, gradients); }),
              HasSubstr("\"layers.0.weight\" and \"layers.2.weight\" are one parameter, but in different groups of "
                        "learning rates"));
  rates.with_group(ParamGroup::from_path("layers"), 0.3);
  expect_all(plain.step(rates, module, gradients), sum(kStart, gradient_at(kStart), -0.3), 1e-12);
}

TEST_F(TiedTraining, PlacesThatDifferAreAnErrorOfTheStep) {
  auto module = thrice();
  module.layers[2] = module.layers[2].no_grad();
  EXPECT_THAT(error_of([&] { (void)GradientsParams::from_grads(loss_of(module).backward(), module); }),
              HasSubstr("\"layers.0.weight\" and \"layers.2.weight\" are copies of one parameter"));
}

TEST_F(TiedTraining, FreshCopiesAreTrainedForThemselves) {
  const auto one = layer();
  const auto trained_ones = trained(Thrice{{one, nn::fresh(one), nn::fresh(one)}}, optim::SgdConfig{}, 0.01, 3);
  EXPECT_NE(numbers(trained_ones.layers[0]), kStart);
  EXPECT_NE(numbers(trained_ones.layers[0]), numbers(trained_ones.layers[1]));
  EXPECT_NE(numbers(trained_ones.layers[1]), numbers(trained_ones.layers[2]));
}

// A language model's embedding, which is also what its head multiplies by, as in GPT-2.
struct TiedHead {
  nn::Embedding embedding;
  std::optional<Param<2>> head;  // if empty, the embedding's weight
  BURN_MODULE(TiedHead, embedding, head)
  Tensor<1> loss(const Tensor<2, Int>& words) const {
    const auto& table = head ? *head : embedding.weight;
    const auto logits = embedding(words).flatten<2>(0, 1).tanh().matmul(table.val().transpose());
    return logits.square().sum() - logits.sum();
  }
};

TEST_F(TiedTraining, AnEmbeddingTiedToTheHeadGetsBothGradients) {
  const auto table = Tensor<2>::from_data(TensorData(Matrix{0.1, 0.4, -0.3, 0.2, 0.5, -0.6}, {3, 2}), f64);
  const auto words = Tensor<2, Int>::from_data(TensorData(std::vector<std::int64_t>{0, 2, 2, 1}, {2, 2}), device);
  const auto fifty = [&](TiedHead net) {
    auto optim = optim::AdamConfig{}.init<TiedHead>();
    for (int i = 0; i < kSteps; ++i) {
      const auto loss = net.loss(words);
      net = optim.step(0.01, std::move(net), GradientsParams::from_grads(loss.backward(), net));
    }
    return net;
  };
  TiedHead tied{.embedding = {table}, .head = std::nullopt};
  tied.head = tied.embedding.weight;
  tied = fifty(tied);
  const auto want = fifty({.embedding = {table}, .head = std::nullopt}).embedding.weight.val().to_data();
  EXPECT_EQ(tied.embedding.weight.val().to_data(), want);
  EXPECT_EQ(tied.head->val().to_data(), want);
}

}  // namespace
}  // namespace burn
