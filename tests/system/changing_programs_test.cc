// Loops whose programs are ever new: no number is wrong, and neither end grows.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "burn/burn.h"
#include "client/record/device_state.h"
#include "client/record/program_table.h"
#include "tests/system/resident.h"
#include "tests/system/worker.h"

namespace burn {
namespace {

class ChangingPrograms : public ::testing::TestWithParam<const char*> {
 protected:
  Device open() const { return Device::new_session(worker_.url(GetParam())); }

  pid_t computing() const { return GetParam() == std::string{"cpu"} ? ::getpid() : worker_.process(); }

  test::Worker worker_;
};

TEST_P(ChangingPrograms, AreRightTwiceOverAfterMoreOfThemThanAreRemembered) {
  const Device device = open();
  constexpr std::int64_t kPrograms = 6000;
  static_assert(kPrograms > static_cast<std::int64_t>(client::ProgramTable::kMaxPrograms));
  std::vector<float> numbers(kPrograms);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  const auto x = Tensor<1>::from_data(TensorData(numbers, {kPrograms}), device);
  for (int round = 0; round < 2; ++round) {
    for (std::int64_t i = 0; i < kPrograms; ++i) {
      ASSERT_EQ(x.narrow(0, i, 1).into_scalar<float>(), static_cast<float>(i)) << "round " << round;
    }
  }
  EXPECT_NO_THROW(device.sync());
}

TEST_P(ChangingPrograms, SumsOverChangingSizes) {
  const Device device = open();
  constexpr std::int64_t kSums = 40'000, kMaxWaiting = 256;
  const auto ones = Tensor<1>::ones({kSums}, device);
  std::vector<std::pair<std::int64_t, std::future<TensorData>>> sums;
  const auto check = [&] {
    for (auto& [size, sum] : sums) ASSERT_EQ(sum.get().to_vec<float>()[0], static_cast<float>(size));
    sums.clear();
  };
  for (std::int64_t i = 0; i < kSums; ++i) {
    const auto size = 1 + (i * 7919) % kSums;  // each once, in no order
    sums.emplace_back(size, ones.narrow(0, 0, size).sum().to_data_async());
    if (static_cast<std::int64_t>(sums.size()) == kMaxWaiting) check();
    if (HasFatalFailure()) return;
  }
  check();
}

// tanh(x w + h u), step after step.
struct Rnn {
  nn::Linear input, hidden, output;
  BURN_MODULE(Rnn, input, hidden, output)

  static Rnn init(const Device& device) {
    return {.input = nn::LinearConfig{.d_input = 4, .d_output = 8}.init(device),
            .hidden = nn::LinearConfig{.d_input = 8, .d_output = 8}.init(device),
            .output = nn::LinearConfig{.d_input = 8, .d_output = 1}.init(device)};
  }
  Tensor<2> forward(const Tensor<3>& x) const {  // [batch, time, 4] -> [batch, 1]
    const auto [batch, time, features] = x.dims();
    auto h = Tensor<2>::zeros({batch, 8}, x.device());
    for (std::int64_t t = 0; t < time; ++t) h = (input(x.narrow(1, t, 1).squeeze_dim<2>(1)) + hidden(h)).tanh();
    return output(h);
  }
};

// Lengths of time from 100 to 999 in no order, so that nearly every step is a new program of up to 16,384 nodes.
TEST_P(ChangingPrograms, AnRnnOverChangingTimesRunsOnAFlatMemory) {
  constexpr int kSettled = 600, kSteps = 3000;
  constexpr double kMayGrowMiB = 48;  // a step is 20 MiB of plans
  const Device ad = open().autodiff();
  ad.seed(1);
  Rnn net = Rnn::init(ad);
  auto optim = optim::AdamConfig{}.init<Rnn>();
  double ours = 0, its = 0, last_loss = 0;
  for (int step = 0; step < kSteps; ++step) {
    const std::int64_t time = 100 + (step * 467) % 900;
    const auto x = Tensor<3>::random({2, time, 4}, Distribution::uniform(-1, 1), ad);
    const auto target = x.narrow(1, time - 1, 1).squeeze_dim<2>(1).narrow(1, 0, 1);
    const auto error = net.forward(x) - target;
    const auto loss = (error * error).mean();
    net = optim.step(1e-3, std::move(net), optim::GradientsParams::from_grads(loss.backward(), net));
    if (step % 50 == 49) last_loss = static_cast<double>(loss.into_scalar<float>());
    if (step == kSettled - 1) {
      ad.sync();
      ours = test::resident_mib(::getpid());
      its = test::resident_mib(computing());
    }
  }
  ad.sync();
  const double we_grew = test::resident_mib(::getpid()) - ours;
  const double it_grew = test::resident_mib(computing()) - its;
  std::printf("client %.1f MiB %+.1f, worker %.1f MiB %+.1f, loss %.4f\n", ours, we_grew, its, it_grew, last_loss);
  EXPECT_LT(we_grew, kMayGrowMiB);
  EXPECT_LT(it_grew, kMayGrowMiB);
  EXPECT_TRUE(std::isfinite(last_loss));
  const auto weights = net.input.weight.val().to_data().to_vec<float>();  // the model is still there
  EXPECT_EQ(weights.size(), 32u);
}

INSTANTIATE_TEST_SUITE_P(OnEveryDevice, ChangingPrograms, ::testing::ValuesIn(test::kSchemes), test::kSchemeName);

}  // namespace
}  // namespace burn
