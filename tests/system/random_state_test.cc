// A checkpoint by hand with the state of the random numbers: training goes on exactly as if it had not stopped, also on
// a new session, on every transport.
#include <gtest/gtest.h>

#include "burn/burn.h"
#include "tests/system/worker.h"

namespace burn {
namespace {

struct Net {
  nn::Linear layer;
  nn::Dropout dropout;
  BURN_MODULE(Net, layer, dropout)

  Tensor<2> forward(const Tensor<2>& x) const { return layer(dropout(x)); }
};

Net new_net(const Device& device) {
  return {.layer = nn::LinearConfig{.d_input = 8, .d_output = 3}.init(device),
          .dropout = nn::DropoutConfig{.prob = 0.4}.init()};
}

class RandomStateOverWire : public ::testing::TestWithParam<const char*> {
 protected:
  static test::Worker& worker() {
    static auto& one = *new test::Worker;
    return one;
  }
  static void TearDownTestSuite() { worker().kill(); }
};

// Steps whose losses depend on what dropout drops.
std::vector<double> train(Net& net, const Device& device, int steps, bool is_captured) {
  auto optim = optim::SgdConfig{}.init<Net>();
  const auto step = [&optim](Net& trained, const Tensor<2>& x) {
    auto loss = trained.forward(x).square().mean();
    trained = optim.step(0.1, std::move(trained), GradientsParams::from_grads(loss.backward(), trained));
    return loss;
  };
  auto captured = capture(device, [](Net& trained, optim::Optimizer<Net>& by, const Tensor<2>& x) {
    auto loss = trained.forward(x).square().mean();
    trained = by.step(0.1, std::move(trained), GradientsParams::from_grads(loss.backward(), trained));
    return loss;
  });
  const auto x = Tensor<2>::ones({4, 8}, device);
  std::vector<double> losses;
  for (int i = 0; i < steps; ++i) losses.push_back((is_captured ? captured(net, optim, x) : step(net, x)).item());
  return losses;
}

TEST_P(RandomStateOverWire, TrainingGoesOnAsIfItHadNotStopped) {
  for (const bool is_captured : {false, true}) {
    const Device device = Device::new_session(worker().url(GetParam())).autodiff();
    device.seed(9);
    Net net = new_net(device);
    (void)train(net, device, 4, is_captured);
    const RandomState state = device.random_state();
    const Record record = net.into_record();
    const auto expected = train(net, device, 5, is_captured);

    const Device again = Device::new_session(worker().url(GetParam())).autodiff();
    Net resumed = new_net(again).load_record(record);
    again.set_random_state({.seed = state.seed, .position = state.position});
    EXPECT_EQ(train(resumed, again, 5, is_captured), expected) << is_captured;
  }
}

INSTANTIATE_TEST_SUITE_P(OnEveryTransport, RandomStateOverWire, ::testing::ValuesIn(test::kSchemes), test::kSchemeName);

}  // namespace
}  // namespace burn
