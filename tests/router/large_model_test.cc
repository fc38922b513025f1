// A model whose state is too large for one worker of a fleet, and is split over all.
#include <gtest/gtest.h>

#include "client/batch_scope.h"
#include "nn/nn.h"
#include "tests/router/local_fleet.h"
#include "train/train.h"

namespace burn::router {
namespace {

using compile::partition::Mesh;

struct Deep {
  static constexpr std::int64_t kWidth = 256;
  static constexpr std::uint64_t kBytes = 4 * kWidth * kWidth * sizeof(float);  // of its weights
  nn::Linear a, b, c, d;
  BURN_MODULE(Deep, a, b, c, d)

  static Deep init(const Device& device) {
    const auto layer = [&] {
      return nn::LinearConfig{.d_input = kWidth, .d_output = kWidth, .bias = false}.init(device);
    };
    return {.a = layer(), .b = layer(), .c = layer(), .d = layer()};
  }
  Tensor<2> forward(const Tensor<2>& x) const { return d(c(b(a(x).relu()).relu()).relu()); }
};

// The losses of a few steps with Adam, of sessions that may have so many bytes on each worker; or why there are none.
Result<std::vector<float>> losses_of_deep(const Mesh& mesh, std::uint64_t tensor_bytes) {
  const LocalFleet fleet(mesh, tensor_bytes);
  const Device device = fleet.device().autodiff();
  device.seed(5);
  auto net = Deep::init(device);
  auto optim = optim::AdamConfig{}.init<Deep>();
  optim.split_state({.parameters = true});
  std::vector<float> losses;
  try {
    for (int step = 0; step < 6; ++step) {
      const auto x = [&] {
        const BatchScope batch;
        return Tensor<2>::from_data(
            TensorData(std::vector<float>(8 * Deep::kWidth, 0.1F * static_cast<float>(step + 1)), {8, Deep::kWidth}),
            device);
      }();
      const auto loss = nn::MseLoss{}(net.forward(x), x);
      net = optim.step(1e-3, std::move(net), GradientsParams::from_grads(loss.backward(), net));
      losses.push_back(loss.into_scalar<float>());
    }
  } catch (const Error& error) {
    return Status{error.code(), error.what()};
  }
  return losses;
}

// Weights, their gradients and two moments of each are four times the weights.
TEST(LargeModel, TrainsWhereItsStateExceedsWhatASessionMayHaveOnOneWorker) {
  constexpr auto kRoom = Deep::kBytes * 3;
  EXPECT_EQ(losses_of_deep(Mesh{}, kRoom).status().code(), StatusCode::resource_exhausted);
  const auto routed = losses_of_deep({.data = 4}, kRoom);
  ASSERT_TRUE(routed.ok()) << routed.status().to_string();
  const auto alone = value_or_throw(losses_of_deep(Mesh{}, std::uint64_t{1} << 40));
  ASSERT_EQ(routed->size(), alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR((*routed)[i], alone[i], 1e-4 * alone[i]) << "step " << i;
}

}  // namespace
}  // namespace burn::router
