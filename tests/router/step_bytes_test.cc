// The bytes of a training step through a router: the batch, and what is read. Gradients go from worker to worker.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "burn/burn.h"
#include "client/record/device_state.h"
#include "tests/router/routed.h"
#include "tests/support/proxy.h"

namespace burn::router {
namespace {

constexpr std::int64_t kBatch = 32, kPixels = 784, kHidden = 64, kClasses = 10;
constexpr std::uint64_t kBatchBytes = kBatch * (kPixels + 4);  // u8 pixels, i32 labels
constexpr std::uint64_t kGradientBytes = 4 * (kPixels * kHidden + kHidden + kHidden * kClasses + kClasses);
constexpr std::size_t kWorkers = 2;
// Bytes of a step other than tensors, in both directions of a connection: frames of the run, the writes and the read,
// with the transport's headers, and acknowledgements.
constexpr std::uint64_t kOtherBytes = 1024;

struct Net {
  nn::Linear first, second;
  BURN_MODULE(Net, first, second)
  static Net init(const Device& device) {
    return {.first = nn::LinearConfig{.d_input = kPixels, .d_output = kHidden}.init(device),
            .second = nn::LinearConfig{.d_input = kHidden, .d_output = kClasses}.init(device)};
  }
  Tensor<2> forward(const Tensor<2>& images) const { return second(first(images).relu()); }
};

// Workers, a router that reaches each of them through a proxy, and a client. The workers reach each other directly.
struct Fleet {
  std::vector<std::unique_ptr<server::Server>> workers;
  std::vector<std::unique_ptr<test::Proxy>> proxies;
  std::unique_ptr<Router> router;
  std::unique_ptr<Device> device;
  net::RemoteSession* session = nullptr;

  Fleet() {
    std::vector<std::string> urls;
    for (std::size_t i = 0; i < kWorkers; ++i) {
      workers.push_back(std::make_unique<server::Server>(worker_options()));
      const std::string url = workers.back()->urls().at(0), scheme = "ws://";
      proxies.push_back(std::make_unique<test::Proxy>(url.substr(scheme.size())));
      urls.push_back(scheme + proxies.back()->address());
    }
    router = std::make_unique<Router>(router_options(urls));
    device = std::make_unique<Device>(Device::new_session(router->urls().at(0)));
    session = dynamic_cast<net::RemoteSession*>(&device->state()->session());
  }
};

struct Traffic {
  net::WireStats client;
  std::array<std::uint64_t, kWorkers> bytes{}, runs{};  // between the router and each worker
};

Traffic traffic_of(const Fleet& fleet) {
  Traffic traffic{.client = fleet.session->wire_stats()};
  for (std::size_t i = 0; i < kWorkers; ++i) {
    traffic.bytes[i] = fleet.proxies[i]->bytes();
    traffic.runs[i] = fleet.workers[i]->session_counts().runs;
  }
  return traffic;
}

// Trains so many steps, each of which ends when its loss has been read; the traffic up to the end of step `known`, and
// of the last one.
std::pair<Traffic, Traffic> train(const Fleet& fleet, int steps, int known) {
  const Device ad = fleet.device->autodiff();
  auto net = Net::init(ad);
  auto optim = optim::AdamConfig{}.init<Net>();
  Traffic first;
  for (int step = 0; step < steps; ++step) {
    std::vector<std::uint8_t> pixels(kBatch * kPixels);
    std::vector<std::int32_t> labels(kBatch);
    for (std::size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = static_cast<std::uint8_t>(i * 7 + static_cast<std::size_t>(step) * 13);
    for (std::size_t i = 0; i < labels.size(); ++i)
      labels[i] = static_cast<std::int32_t>((i + static_cast<std::size_t>(step)) % kClasses);
    const auto [images, targets] = [&] {
      const BatchScope marked;
      return std::pair{Tensor<2, Int>::from_data(TensorData(std::move(pixels), {kBatch, kPixels}), ad),
                       Tensor<1, Int>::from_data(TensorData(std::move(labels), {kBatch}), ad)};
    }();
    const auto loss = nn::CrossEntropyLoss{}(net.forward(images.to_float() / 255), targets);
    net = optim.step(1e-3, std::move(net), optim::GradientsParams::from_grads(loss.backward(), net));
    EXPECT_GT(loss.into_scalar<float>(), 0);
    if (step + 1 != known) continue;
    ad.sync();  // all workers have counted the run
    first = traffic_of(fleet);
  }
  ad.sync();
  return {first, traffic_of(fleet)};
}

TEST(RoutedStep, MovesTheBatchAndWhatIsReadAndOneRunToEachWorker) {
  const Fleet fleet;
  ASSERT_NE(fleet.session, nullptr);
  constexpr int kKnown = 8, kSteps = 28;  // after kKnown steps there are no new programs
  const auto [first, last] = train(fleet, kSteps, kKnown);
  constexpr std::uint64_t kCounted = kSteps - kKnown;
  static_assert(kGradientBytes > 4 * (kBatchBytes + kOtherBytes), "gradients would not be seen");

  EXPECT_EQ(last.client.programs_sent, first.client.programs_sent);
  EXPECT_EQ(last.client.runs_sent - first.client.runs_sent, kCounted);
  const auto client =
      (last.client.bytes_sent + last.client.bytes_received - first.client.bytes_sent - first.client.bytes_received) /
      kCounted;
  RecordProperty("client_bytes", static_cast<int>(client));
  EXPECT_GE(client, kBatchBytes);
  EXPECT_LT(client, kBatchBytes + kOtherBytes);
  for (std::size_t i = 0; i < kWorkers; ++i) {
    SCOPED_TRACE("worker " + std::to_string(i));
    EXPECT_EQ(last.runs[i] - first.runs[i], kCounted);
    const auto bytes = (last.bytes[i] - first.bytes[i]) / kCounted;
    RecordProperty("worker_bytes_" + std::to_string(i), static_cast<int>(bytes));
    EXPECT_GE(bytes, kBatchBytes / kWorkers);
    EXPECT_LT(bytes, kBatchBytes / kWorkers + kOtherBytes);
  }
}

}  // namespace
}  // namespace burn::router
