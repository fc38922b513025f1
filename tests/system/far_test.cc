// A worker far away: how often a training waits for it, counted and not timed, so that a slow machine counts the same.
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "burn/burn.h"
#include "server/server.h"
#include "tests/support/eventually.h"
#include "tests/support/proxy.h"
#include "tests/support/temp_folder.h"
#include "tests/train/tiny.h"

namespace burn {
namespace {

using namespace std::chrono_literals;
using test::eventually;

constexpr auto kPatience = 30s;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr auto kSilence = 2000ms;
#else
constexpr auto kSilence = 500ms;
#endif

struct Quiet : train::Renderer {
  void progress(const train::Progress&) override {}
  void epoch(const train::EpochSummary&) override {}
  void message(const std::string&) override {}
  void summary(const std::vector<train::MetricSummary>&) override {}
};

// By scheme; and how often to connect is to wait: gRPC hears its server's settings before it calls.
struct Far {
  const char* scheme;
  std::uint64_t to_connect;
};

// Each epoch is trained, validated and saved; then the model is tested and looked at.
void train_epochs(const Device& device, int epochs) {
  const test::TempFolder folder;
  const auto [train_loader, valid_loader] = test::tiny_loaders(device);
  Record record;
  std::future<TensorData> tested;
  train::SupervisedTraining(folder / "run", train_loader, valid_loader)
      .metrics(metric::Loss{}, metric::Accuracy{})
      .renderer(std::make_shared<Quiet>())
      .checkpoints(train::KeepLast{2})
      .epochs(epochs)
      .launch(train::Learner(test::TinyNet::init(device.autodiff()), optim::AdamConfig{}, 1e-3),
              [&, &valid = valid_loader](const test::TinyNet& net) {
                record = net.into_record();
                tested = net.valid().step(*valid.start(0)).loss.into_data_async();
              });
  EXPECT_EQ(tested.get().num_elements(), 1u);
  EXPECT_EQ(record.size(), 4u);
  EXPECT_TRUE(std::filesystem::exists(folder / "run" / "checkpoint" / fmt::format("epoch-{}", epochs)));
}

class FarAway : public ::testing::TestWithParam<Far> {
 protected:
  FarAway() {
    train_epochs(Device::new_session(worker_.urls().front()), 1);  // warms up before the measurement
    proxy_.hold_answers(kSilence);
  }

  std::string target() const {
    const std::string scheme = GetParam().scheme;
    return worker_.urls().at(scheme == "grpc" ? 1 : 0).substr(scheme.size() + 3);
  }
  std::string url() const { return GetParam().scheme + ("://" + proxy_.address()); }
  Device connected() const {
    Device device = Device::new_session(url());
    (void)device.info();
    return device;
  }

  server::Server worker_{{.device = "cpu", .ws = "127.0.0.1:0", .grpc = "127.0.0.1:0"}};
  test::Proxy proxy_{target()};
};

TEST_P(FarAway, ToConnectIsOneRoundTrip) {
  const Device device = Device::new_session(url());
  EXPECT_EQ(proxy_.waits(), 0u) << "the program goes on";
  (void)device.info();
  EXPECT_LE(proxy_.waits(), GetParam().to_connect);
}

TEST_P(FarAway, WhatIsComputedMeanwhileIsSentWithTheWelcome) {
  const Device device = Device::new_session(url());
  const auto uploaded = Tensor<1>::from_data(TensorData::ones({1 << 16}), device);
  auto sum = (uploaded + 1).sum();
  for (int i = 0; i < 10; ++i) {
    sum = sum + 1;
    device.flush();
  }
  EXPECT_EQ(proxy_.waits(), 0u);
  EXPECT_EQ(sum.into_scalar<float>(), static_cast<float>((2 << 16) + 10));
  EXPECT_LE(proxy_.waits(), GetParam().to_connect + 1);
}

TEST_P(FarAway, AnEpochWithItsCheckpointAndTheTestAtTheEndIsOneMore) {
  const Device device = connected();
  const auto before = proxy_.waits();
  train_epochs(device, 3);
  EXPECT_LE(proxy_.waits() - before, 4u) << "of three epochs; one more for a machine that is busy";
}

// All of its numbers are asked for at once, and waited for: a record that cannot be read takes the place of none.
TEST_P(FarAway, ARecordIsOneRoundTrip) {
  const Device device = connected();
  const auto net = test::TinyNet::init(device);
  const auto before = proxy_.waits();
  const Record record = net.into_record();
  EXPECT_GT(record.size(), 1u);
  EXPECT_LE(proxy_.waits() - before, 2u) << "one more for a machine that is busy";
}

TEST_P(FarAway, ToLeaveIsNone) {
  std::uint64_t before = 0;
  {
    const Device device = connected();
    EXPECT_EQ((Tensor<1>::from_data({1, 2}, device) + 1).sum().into_scalar<float>(), 5.0f);
    before = proxy_.waits();
  }
  EXPECT_EQ(proxy_.waits(), before);
  EXPECT_TRUE(eventually([&] { return worker_.sessions() == 0; }, kPatience));
  EXPECT_EQ(worker_.session_counts().lost, 0u) << "the worker has been told";
}

// What is dropped at the end is much: it is released at once, and not with a next run.
TEST_P(FarAway, ToLeaveWithTensorsIsNone) {
  std::uint64_t before = 0;
  {
    const Device device = connected();
    const auto much = Tensor<1>::zeros({16 << 20}, device) + 1;
    EXPECT_EQ(much.sum().into_scalar<float>(), static_cast<float>(16 << 20));
    before = proxy_.waits();
  }
  EXPECT_EQ(proxy_.waits(), before);
  EXPECT_TRUE(eventually([&] { return worker_.sessions() == 0; }, kPatience));
  EXPECT_EQ(worker_.session_counts().lost, 0u) << "the worker has been told";
}

TEST_P(FarAway, AClientThatLeavesWithWorkUnderWayTellsTheWorker) {
  {
    const Device device = connected();
    auto x = Tensor<1>::from_data({1, 2}, device);
    for (int i = 0; i < 10; ++i) {
      x = x + 1;
      device.flush();
    }
  }
  EXPECT_TRUE(eventually([&] { return worker_.sessions() == 0; }, kPatience));
  EXPECT_EQ(worker_.session_counts().lost, 0u);
}

TEST_P(FarAway, AClientThatLeavesBeforeItIsConnectedTellsTheWorker) {
  { const auto x = Tensor<1>::from_data({1, 2}, Device::new_session(url())); }
  EXPECT_TRUE(eventually([&] { return worker_.sessions() == 0; }, kPatience));
  EXPECT_EQ(worker_.session_counts().lost, 0u);
}

INSTANTIATE_TEST_SUITE_P(, FarAway, ::testing::Values(Far{"ws", 1}, Far{"grpc", 2}),
                         [](const auto& info) { return info.param.scheme; });

}  // namespace
}  // namespace burn
