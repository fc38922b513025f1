// Gradient checkpointing: the same gradients, less memory, no random number drawn twice, and no pass that undoes it.
#include "autodiff/checkpointing.h"

#include <algorithm>

#include "backends/registry/registry.h"
#include "compile/rewrite/simplify.h"
#include "session/local_session.h"
#include "tests/client/recording_session.h"
#include "tests/nn/nn_test.h"

namespace burn {
namespace {

using Strategy = GradientCheckpointingStrategy;

// gelu(x W + b), repeated for each layer.
struct DeepMlp {
  std::vector<nn::Linear> layers;
  nn::Dropout dropout;
  BURN_MODULE(DeepMlp, layers, dropout)

  static DeepMlp init(int depth, std::int64_t width, double drop, const Device& device) {
    DeepMlp mlp{.layers = {}, .dropout = nn::DropoutConfig{.prob = drop}.init()};
    for (int i = 0; i < depth; ++i)
      mlp.layers.push_back(nn::LinearConfig{.d_input = width, .d_output = width}.init(device));
    return mlp;
  }
  Tensor<2> forward(Tensor<2> x) const {
    for (const auto& layer : layers) x = dropout(activation::gelu(layer(x)));
    return x;
  }
};

std::vector<std::vector<double>> gradients_of(const DeepMlp& mlp, const Tensor<2>& x, Strategy strategy) {
  x.device().seed(3);
  const GradientCheckpointing scope{strategy};
  const auto gradients = mlp.forward(x).square().mean().backward();
  std::vector<std::vector<double>> all;
  for (const auto& layer : mlp.layers) {
    all.push_back(test::values(*layer.weight.val().grad(gradients)));
    all.push_back(test::values(*layer.bias->val().grad(gradients)));
  }
  return all;
}

TEST(Checkpointing, GivesTheSameGradients) {
  for (const double drop : {0.0, 0.25}) {
    const auto mlp = DeepMlp::init(4, 64, drop, test::ad());
    const auto x = Tensor<2>{test::spread_tensor<2>({128, 64}, test::ad())};
    const auto with = gradients_of(mlp, x, Strategy::balanced), without = gradients_of(mlp, x, Strategy::disabled);
    for (std::size_t i = 0; i < with.size(); ++i) {
      EXPECT_THAT(with[i], ::testing::Pointwise(::testing::DoubleNear(1e-7), without[i])) << i << ", dropout " << drop;
    }
  }
}

// The number of nodes to recompute in a training step, after the simplify() that a device applies first.
std::size_t recomputed_nodes(Strategy strategy, bool create_graph = false) {
  const auto calls = std::make_shared<test::RecordedCalls>();
  const Device device = Device::from_session("told:", std::make_unique<test::RecordingSession>(calls)).autodiff();
  const auto mlp = DeepMlp::init(3, 64, 0.5, device);
  const auto x = Tensor<2>::ones({128, 64}, device);
  device.flush();
  Gradients gradients;
  {
    const GradientCheckpointing scope{strategy};
    gradients = mlp.forward(x).square().mean().backward({.create_graph = create_graph});
  }
  device.flush();
  const auto simple = compile::simplify(calls->program_of(calls->runs.size() - 1), true);
  for (const auto& node : simple.nodes) EXPECT_FALSE(node.recompute && std::holds_alternative<ir::Random>(node.op));
  for (const auto& node : simple.nodes) EXPECT_FALSE(node.recompute && std::holds_alternative<ir::MatMul>(node.op));
  return static_cast<std::size_t>(std::ranges::count_if(simple.nodes, &ir::Node::recompute));
}

TEST(Checkpointing, SurvivesTheMergingOfEqualNodes) {
  EXPECT_EQ(recomputed_nodes(Strategy::disabled), 0u);
  EXPECT_GT(recomputed_nodes(Strategy::balanced), 8u);  // two GELUs, whose results are operands of products
  EXPECT_EQ(recomputed_nodes(Strategy::balanced, true), 0u);
}

TEST(Checkpointing, EndsWithItsScope) {
  EXPECT_EQ(GradientCheckpointing::strategy(), Strategy::disabled);
  {
    const GradientCheckpointing outer;
    EXPECT_EQ(GradientCheckpointing::strategy(), Strategy::balanced);
    const GradientCheckpointing inner{Strategy::disabled};
    EXPECT_EQ(GradientCheckpointing::strategy(), Strategy::disabled);
  }
  EXPECT_EQ(GradientCheckpointing::strategy(), Strategy::disabled);
}

TEST(Checkpointing, IsSaidOfATensorInsteadOfAScope) {
  const auto recomputed = [](auto&& mark, Strategy scope) {
    const auto calls = std::make_shared<test::RecordedCalls>();
    const Device device = Device::from_session("told:", std::make_unique<test::RecordingSession>(calls)).autodiff();
    const auto mlp = DeepMlp::init(3, 64, 0, device);
    const auto x = Tensor<2>::ones({128, 64}, device);
    device.flush();
    const GradientCheckpointing around{scope};
    const auto gradients = mark(mlp.forward(x).square().mean()).backward();
    device.flush();
    return std::ranges::count_if(calls->program_of(calls->runs.size() - 1).nodes, &ir::Node::recompute);
  };
  const auto say = [](Strategy strategy) {
    return [=](const Tensor<1>& loss) { return loss.with_gradient_checkpointing_strategy(strategy); };
  };
  EXPECT_GT(recomputed(say(Strategy::balanced), Strategy::disabled), 0);
  EXPECT_EQ(recomputed(say(Strategy::disabled), Strategy::balanced), 0);
  const auto x = Tensor<1>::ones({2}, test::ad());
  EXPECT_EQ(test::error_of([&] { (void)x.with_gradient_checkpointing_strategy(Strategy::balanced); }),
            "with_gradient_checkpointing_strategy: no gradient flows through this f32[2]");
}

// The peak of the device's memory in bytes, during one forward and backward pass.
std::uint64_t peak_of(Strategy strategy) {
  const auto worker = session::Worker::create(value_or_throw(backends::open_backend("cpu")));
  const Device device = Device::from_session("cpu", session::make_local_session(worker)).autodiff();
  const auto mlp = DeepMlp::init(8, 128, 0, device);
  const auto x = Tensor<2>::ones({2048, 128}, device);
  device.sync();
  const GradientCheckpointing scope{strategy};
  auto gradients = mlp.forward(x).square().mean().backward();
  device.sync();
  return worker->backend().memory().peak;
}

TEST(Checkpointing, LowersThePeakOfADeepMlp) {
  const auto with = peak_of(Strategy::balanced), without = peak_of(Strategy::disabled);
  RecordProperty("with", std::to_string(with));
  RecordProperty("without", std::to_string(without));
  EXPECT_LT(static_cast<double>(with), 0.75 * static_cast<double>(without)) << with << " and " << without << " bytes";
}

}  // namespace
}  // namespace burn
