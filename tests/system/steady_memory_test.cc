// A long training over a socket: neither end grows, and a step costs no more on the wire than it must.
#include <cstdint>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "burn/burn.h"
#include "client/device_state.h"
#include "client/remote_session.h"
#include "tests/system/resident.h"
#include "tests/system/worker_process.h"

namespace burn {
namespace {

constexpr int kSteps = 10'000, kSettled = 100;
constexpr double kMayGrowMiB = 6;  // what allocators need to find their shape
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
  const test::WorkerProcess worker;
  const Device device = Device::new_session(worker.url(GetParam()));
  auto* session = dynamic_cast<client::RemoteSession*>(&device.state()->session());
  ASSERT_NE(session, nullptr);

  const Device ad = device.autodiff();
  ad.seed(1);
  Mlp net = Mlp::init(ad);
  auto optim = optim::AdamConfig{}.init<Mlp>();
  std::vector<float> pixels(kBatch * kFeatures, 0.25f);
  const TensorData images_data(std::move(pixels), {kBatch, kFeatures});
  const TensorData labels_data(std::vector<std::int64_t>(kBatch, 3), {kBatch});

  double ours = 0, its = 0;
  client::WireStats before;
  for (int step = 0; step < kSteps; ++step) {
    const auto images = Tensor<2>::from_data(images_data, ad);
    const auto targets = Tensor<1, Int>::from_data(labels_data, ad);
    const auto loss = nn::CrossEntropyLoss{}(net.forward(images), targets);
    net = optim.step(1e-3, std::move(net), optim::GradientsParams::from_grads(loss.backward(), net));
    if (step % 10 == 9) ad.sync();
    if (step == kSettled - 1) {
      ours = resident_mib(::getpid());
      its = resident_mib(worker.id_of(GetParam()));
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
  const double we_grew = resident_mib(::getpid()) - ours, it_grew = resident_mib(worker.id_of(GetParam())) - its;
  std::printf("client %.1f MiB %+.1f, server %.1f MiB %+.1f, %.0f bytes a step beside the batch\n", ours, we_grew, its, it_grew,
              sent + received);
  EXPECT_LT(we_grew, kMayGrowMiB);
  EXPECT_LT(it_grew, kMayGrowMiB);
}

INSTANTIATE_TEST_SUITE_P(OnEveryTransport, SteadyMemory, ::testing::Values("ws", "grpc"),
                         [](const auto& info) { return std::string{info.param}; });

}  // namespace
}  // namespace burn
