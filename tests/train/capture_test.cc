// Captured training steps, as the session receives them: the same numbers in each run, and no tensors left over.
#include "client/capture/capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/train/fake_session.h"
#include "tests/train/tiny.h"

namespace burn {
namespace {

struct RecordedRuns {
  std::vector<std::vector<std::uint64_t>> scalars;
  std::vector<std::uint64_t> random_offsets;
  std::vector<int> tensors;  // alive after each step
};

// Trains with two optimizers, one of which steps twice per call, and a learning rate that changes.
RecordedRuns train(bool is_captured) {
  const auto server = std::make_shared<test::FakeServer>();
  const Device ad = test::fake_device(server).autodiff();
  ad.seed(3);
  auto a = test::TinyNet::init(ad), b = test::TinyNet::init(ad);
  auto adam = optim::AdamWConfig{}.init<test::TinyNet>();
  auto sgd = optim::SgdConfig{.momentum = optim::MomentumConfig{}}.init<test::TinyNet>();
  using Net = test::TinyNet;
  const auto body = [](Net& a, Net& b, optim::Optimizer<Net>& adam, optim::Optimizer<Net>& sgd, Scalar lr,
                       const Tensor<2>& x, const Tensor<1, Int>& targets) {
    const auto update = [&](Net& net, optim::Optimizer<Net>& optim, Scalar rate) {
      const auto loss = net.step({x, targets}).loss;
      net = optim.step(rate, std::move(net), optim::GradientsParams::from_grads(loss.backward(), net));
      return loss.detach();
    };
    return update(a, adam, lr) + update(b, sgd, 0.1) + update(a, adam, lr);
  };
  auto step = capture(ad, body);
  RecordedRuns recorded;
  ad.flush();
  server->runs.clear();
  for (int i = 0; i < 8; ++i) {
    const auto x = Tensor<2>::from_data({{0, 1}, {1, 0}}, ad);
    const auto targets = Tensor<1, Int>::from_data({0, 1}, ad);
    const double lr = 0.1 / (i + 1);
    const auto loss = is_captured ? step(a, b, adam, sgd, lr, x, targets) : body(a, b, adam, sgd, lr, x, targets);
    (void)loss.to_data();
    recorded.tensors.push_back(server->tensors);
  }
  // Without capture, each optimizer's step ends a program, but the order of the numbers is the same.
  std::vector<std::uint64_t> all;
  for (const auto& run : server->runs) {
    all.insert(all.end(), run.scalars.begin(), run.scalars.end());
    recorded.random_offsets.push_back(run.random_offset);
  }
  recorded.scalars.push_back(std::move(all));
  EXPECT_EQ(step.replayed(), is_captured ? 5u : 0u);
  return recorded;
}

TEST(CapturedStep, GivesTheSameNumbersAsTheStepItself) { EXPECT_EQ(train(true).scalars, train(false).scalars); }

TEST(CapturedStep, DrawsRandomNumbersFromTheSamePlaces) {
  const auto captured = train(true).random_offsets, plain = train(false).random_offsets;
  ASSERT_EQ(captured.size(), 8u);
  for (const auto offset : captured) EXPECT_THAT(plain, ::testing::Contains(offset));
}

TEST(CapturedStep, LeavesNothingBehindOnTheDevice) {
  const auto recorded = train(true);
  for (std::size_t i = 2; i < recorded.tensors.size(); ++i)
    EXPECT_EQ(recorded.tensors[i], recorded.tensors[1]) << "step " << i;
}

TEST(CapturedStep, UsesOneDeviceAndNoOtherCapture) {
  const auto server = std::make_shared<test::FakeServer>();
  const Device device = test::fake_device(server), other = test::fake_device(server);
  const auto x = Tensor<1>::zeros({2}, device), y = Tensor<1>::zeros({2}, other);
  auto crosses = capture(device, [&](const Tensor<1>& x) { return (void)(y + 1), x + 1; });
  EXPECT_THROW((void)crosses(x), Error);
  EXPECT_THROW((void)crosses(y), Error);
  auto inner = capture(device, [](const Tensor<1>& x) { return x + 1; });
  auto outer = capture(device, [&](const Tensor<1>& x) { return inner(x); });
  EXPECT_THROW((void)outer(x), Error);
  EXPECT_NO_THROW((void)inner(x));
}

}  // namespace
}  // namespace burn
