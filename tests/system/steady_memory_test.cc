// A long training over a socket: neither end grows, and a step costs no more on the wire than it must.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "burn/burn.h"
#include "client/record/device_state.h"
#include "net/remote/remote_session.h"
#include "tests/system/resident.h"
#include "tests/system/worker.h"

namespace burn {
namespace {

constexpr int kSteps = 10'000, kSettled = 100;
constexpr double kMayGrowMiB = 6;  // what allocators need until their pools are stable
constexpr std::int64_t kBatch = 64, kFeatures = 784;
constexpr std::uint64_t kBatchBytes = kBatch * (kFeatures * 4 + 8);

struct Mlp {
  nn::Linear linear1, linear2, linear3;
  BURN_MODULE(Mlp, linear1, linear2, linear3)

  static Mlp init(const Device& device) {
    return {.linear1 = nn::LinearConfig{.d_input = kFeatures, .d_output = 512}.init(device),
            .linear2 = nn::LinearConfig{.d_input = 512, .d_output = 512}.init(device),
            .linear3 = nn::LinearConfig{.d_input = 512, .d_output = 10}.init(device)};
  }
  Tensor<2> forward(const Tensor<2>& x) const { return linear3(linear2(linear1(x).relu()).relu()); }
};

using test::resident_mib;

class SteadyMemory : public ::testing::TestWithParam<const char*> {};

TEST_P(SteadyMemory, OfBothEndsOverTenThousandSteps) {
  const test::Worker worker;
  const Device device = Device::new_session(worker.url(GetParam()));
  auto* session = dynamic_cast<net::RemoteSession*>(&device.state()->session());
  ASSERT_NE(session, nullptr);

  const Device ad = device.autodiff();
  ad.seed(1);
  Mlp net = Mlp::init(ad);
  auto optim = optim::AdamConfig{}.init<Mlp>();
  std::vector<float> pixels(kBatch * kFeatures, 0.25f);
  const TensorData images_data(std::move(pixels), {kBatch, kFeatures});
  const TensorData labels_data(std::vector<std::int64_t>(kBatch, 3), {kBatch});

  double ours = 0, its = 0;
  net::WireStats before;
  for (int step = 0; step < kSteps; ++step) {
    const auto images = Tensor<2>::from_data(images_data, ad);
    const auto targets = Tensor<1, Int>::from_data(labels_data, ad);
    const auto loss = nn::CrossEntropyLoss{}(net.forward(images), targets);
    net = optim.step(1e-3, std::move(net), optim::GradientsParams::from_grads(loss.backward(), net));
    if (step % 10 == 9) ad.sync();
    if (step == kSettled - 1) {
      ours = resident_mib(::getpid());
      its = resident_mib(worker.process());
      before = session->wire_stats();
    }
  }
  ad.sync();
  const auto after = session->wire_stats();
  const double steps = kSteps - kSettled;
  const double sent = static_cast<double>(after.bytes_sent - before.bytes_sent) / steps - kBatchBytes;
  const double received = static_cast<double>(after.bytes_received - before.bytes_received) / steps;
  RecordProperty("bytes_beside_the_batch", std::to_string(sent + received));
  EXPECT_LT(sent + received, 1024);
  EXPECT_EQ(after.programs_sent, before.programs_sent);
  const double we_grew = resident_mib(::getpid()) - ours, it_grew = resident_mib(worker.process()) - its;
  std::printf("client %.1f MiB %+.1f, server %.1f MiB %+.1f, %.0f bytes a step beside the batch\n", ours, we_grew, its,
              it_grew, sent + received);
  EXPECT_LT(we_grew, kMayGrowMiB);
  EXPECT_LT(it_grew, kMayGrowMiB);
}

std::uint64_t peak_mib(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) / 1024;
  }
  return 0;
}

class ManyUploads : public ::testing::TestWithParam<const char*> {};

// 3 GiB, a mebibyte at a time, used and dropped, and nothing is read until the end.
TEST_P(ManyUploads, ThatAreNeverReadTakeABoundedPartOfMemory) {
  test::Worker worker;
  const Device device = Device::new_session(worker.url(GetParam()));
  constexpr std::int64_t kElements = std::int64_t{1} << 18;
  constexpr int kUploads = 3000;
  const auto ours = peak_mib(::getpid()), its = peak_mib(worker.process());
  auto sum = Tensor<1>::zeros({1}, device);
  for (int i = 0; i < kUploads; ++i) {
    std::vector<float> values(kElements, 1.0f);
    values[0] = static_cast<float>(i);  // none is known already
    sum = sum + Tensor<1>::from_data(TensorData(std::move(values), {kElements}), device).slice({s(1, 2)});
  }
  EXPECT_EQ(sum.into_scalar<float>(), kUploads);
  const auto we_took = peak_mib(::getpid()) - ours, it_took = peak_mib(worker.process()) - its;
  std::printf("client %+d MiB, server %+d MiB at most\n", static_cast<int>(we_took), static_cast<int>(it_took));
  EXPECT_LT(we_took + it_took, 1200u);
}

INSTANTIATE_TEST_SUITE_P(OnEveryTransport, ManyUploads, ::testing::ValuesIn(test::kSchemes), test::kSchemeName);

INSTANTIATE_TEST_SUITE_P(OnEveryTransport, SteadyMemory, ::testing::Values("ws", "grpc"),
                         [](const auto& info) { return std::string{info.param}; });

}  // namespace
}  // namespace burn
