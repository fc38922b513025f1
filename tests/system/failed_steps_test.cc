// Long trainings with bad batches, in process and over sockets: the losses are those of a training that does not take
// these steps, and nothing else is.
#include <cmath>
#include <cstdint>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/capture/capture.h"
#include "tests/system/digits_training.h"

namespace burn {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kWords = 16, kBatch = 8;
constexpr int kBadEvery = 50;

struct Net {
  nn::Embedding words;
  nn::Linear output;
  nn::Dropout dropout;
  BURN_MODULE(Net, words, output, dropout)

  Tensor<2> forward(const Tensor<1, Int>& x) const { return output(dropout(words(x))); }
};

enum class Bad : std::uint8_t { fail, are_not_taken };

struct Outcome {
  std::vector<float> losses;  // NaN where there is none
  std::vector<std::string> failures;
  Record net, optim;
};

Outcome train(const std::string& url, int steps, Bad bad, bool is_captured) {
  const Device device = Device::new_session(url).autodiff();
  device.seed(3);
  Net net{.words = nn::EmbeddingConfig{.n_embedding = kWords, .d_model = 4}.init(device),
          .output = nn::LinearConfig{.d_input = 4, .d_output = 3}.init(device),
          .dropout = nn::DropoutConfig{.prob = 0.1}.init()};
  auto optim = optim::AdamConfig{}.init<Net>();
  const auto body = [bad](Net& net, optim::Optimizer<Net>& optim, Scalar lr, const Tensor<1, Int>& words,
                          const Tensor<1, Int>& targets, const Tensor<1>& is_taken) {
    const auto loss = nn::CrossEntropyLoss{}(net.forward(words), targets);
    auto gradients = GradientsParams::from_grads(loss.backward(), net);
    if (bad == Bad::are_not_taken) gradients.take_step_only_if(is_taken.greater(0));
    net = optim.step(lr, std::move(net), std::move(gradients));
    return loss;
  };
  auto captured = capture(device, body);
  std::vector<std::future<TensorData>> reads;
  for (int i = 0; i < steps; ++i) {
    const bool is_bad = i % kBadEvery == kBadEvery / 2;
    std::vector<std::int64_t> words(kBatch), targets(kBatch);
    for (std::size_t k = 0; k < words.size(); ++k) {
      words[k] = static_cast<std::int64_t>((k * 7 + static_cast<std::size_t>(i) * 5) % kWords);
      targets[k] = words[k] % 3;
    }
    if (is_bad && bad == Bad::fail) words[2] = 99;
    const auto x = Tensor<1, Int>::from_data(TensorData(words, {kBatch}), device);
    const auto y = Tensor<1, Int>::from_data(TensorData(targets, {kBatch}), device);
    const auto is_taken = Tensor<1>::from_data(TensorData(std::vector<float>{is_bad ? 0.F : 1.F}, {1}), device.inner());
    const double lr = 0.005 * (1 + std::cos(3.14159265358979 * i / steps));  // advances even if the step fails
    reads.push_back((is_captured ? captured(net, optim, lr, x, y, is_taken) : body(net, optim, lr, x, y, is_taken))
                        .to_data_async());
  }
  Outcome outcome;
  for (int i = 0; i < steps; ++i) {
    try {
      outcome.losses.push_back(reads[static_cast<std::size_t>(i)].get().as_slice<float>()[0]);
    } catch (const Error& error) {
      EXPECT_EQ(i % kBadEvery, kBadEvery / 2) << error.what();
      outcome.failures.emplace_back(error.what());
      outcome.losses.push_back(NAN);
    }
    if (i % kBadEvery == kBadEvery / 2) outcome.losses.back() = 0;  // of other words
  }
  device.sync();  // all failures have been reported
  outcome.net = net.into_record();
  outcome.optim = optim.to_record(net);
  return outcome;
}

void expect_same(const Outcome& got, const Outcome& want, int steps) {
  EXPECT_EQ(got.losses, want.losses);
  EXPECT_EQ(got.failures.size(), static_cast<std::size_t>(steps / kBadEvery));
  EXPECT_TRUE(want.failures.empty());
  for (const auto& failure : got.failures) EXPECT_THAT(failure, HasSubstr("index 99 is outside 0..15"));
  EXPECT_EQ(got.net.to_bytes().size(), want.net.to_bytes().size());
  for (const auto& [name, data] : want.net) EXPECT_EQ(got.net.get(name), data) << name;
  for (const auto& [name, data] : want.optim) EXPECT_EQ(got.optim.get(name), data) << name;
}

TEST(FailedSteps, TenThousandOfThemWithABadBatchInFifty) {
  constexpr int kSteps = 10'000;
  const auto want = train("cpu", kSteps, Bad::are_not_taken, true);
  EXPECT_LT(want.losses.back(), want.losses.front());
  expect_same(train("cpu", kSteps, Bad::fail, true), want, kSteps);
  const server::Server worker({.ws = "127.0.0.1:0"});
  expect_same(train(worker.url(), kSteps, Bad::fail, true), want, kSteps);
}

TEST(FailedSteps, AreTheSameOnAGpuThatIsManyStepsBehind) {
  try {
    Device{"cuda:0"}.sync();
  } catch (const Error& error) {
    GTEST_SKIP() << "no GPU: " << error.what();
  }
  constexpr int kSteps = 10'000;
  const auto want = train("cuda:0", kSteps, Bad::are_not_taken, true);
  expect_same(train("cuda:0", kSteps, Bad::fail, true), want, kSteps);
  expect_same(train("cuda:0", 200, Bad::fail, false), train("cuda:0", 200, Bad::are_not_taken, false), 200);
  const server::Server worker({.device = "cuda:0", .ws = "127.0.0.1:0"});
  expect_same(train(worker.url(), kSteps, Bad::fail, true), want, kSteps);
}

TEST(FailedSteps, AreTheSameOverEverySocketAndUncaptured) {
  constexpr int kSteps = 200;
  const auto want = train("cpu", kSteps, Bad::are_not_taken, false);
  const server::Server worker(test::on_every_transport()), delayed({.device = "delayed", .ws = "127.0.0.1:0"});
  auto urls = worker.urls();
  urls.insert(urls.end(), {"cpu", delayed.url()});
  for (const auto& url : urls) {
    SCOPED_TRACE(url);
    for (const bool is_captured : {false, true}) expect_same(train(url, kSteps, Bad::fail, is_captured), want, kSteps);
  }
}

}  // namespace
}  // namespace burn
