// What a training step costs on the wire once it is known: one run, the batch, and nothing else.
#include <iostream>

#include <gtest/gtest.h>

#include "client/record/device_state.h"
#include "examples/guide/model.h"
#include "net/remote/remote_session.h"
#include "tests/system/digits_training.h"

namespace burn {
namespace {

class StepTraffic : public ::testing::TestWithParam<std::size_t> {};

TEST_P(StepTraffic, IsOneRunTheBatchAndNoProgramText) {
  const server::Server worker(test::on_every_transport());
  const Device device = Device::new_session(worker.urls().at(GetParam()));
  auto* session = dynamic_cast<net::RemoteSession*>(&device.state()->session());
  ASSERT_NE(session, nullptr);
  constexpr std::int64_t kBatch = 32;
  constexpr std::uint64_t kBatchBytes = kBatch * (28 * 28 + 8);  // u8 pixels, i64 labels
  std::vector<net::WireStats> after;
  test::train_digits(device.autodiff(), 30, kBatch,
                     [&](int, const Tensor<1>&) { after.push_back(session->wire_stats()); });
  device.sync();
  for (std::size_t step = 10; step < after.size(); ++step) {
    EXPECT_EQ(after[step].programs_sent, after[9].programs_sent) << "step " << step << " sent program text";
    EXPECT_EQ(after[step].runs_sent - after[step - 1].runs_sent, 1u);
    EXPECT_EQ(after[step].frames_sent - after[step - 1].frames_sent, 3u) << "a run, the pixels and the labels";
    const auto beside_the_batch = after[step].bytes_sent - after[step - 1].bytes_sent - kBatchBytes;
    EXPECT_LT(beside_the_batch, 512u);
  }
}

// The guide's own batches: pixels and labels travel as bytes and become numbers on the worker.
TEST_P(StepTraffic, ABatchOfImagesTravelsAsOneByteAPixelAndALabel) {
  const server::Server worker(test::on_every_transport());
  const Device device = Device::new_session(worker.urls().at(GetParam()));
  auto* session = dynamic_cast<net::RemoteSession*>(&device.state()->session());
  constexpr std::size_t kBatch = 64, kBatches = 30;
  const auto loader = data::DataLoaderBuilder(guide::MnistBatcher{device})
                          .batch_size(kBatch)
                          .build(data::DigitsDataset(kBatch * kBatches, 1));
  auto net = guide::NetConfig{}.init(device.autodiff());
  auto optim = optim::AdamConfig{}.init<guide::Net>();
  std::vector<std::uint64_t> sent;
  for (auto it = loader.start(0); it != loader.end(); ++it) {
    const auto batch = std::move(*it);
    const auto loss = nn::CrossEntropyLoss{}(net.forward(Tensor<3>::from_inner(batch.images)), batch.targets);
    net = optim.step(1e-3, std::move(net), optim::GradientsParams::from_grads(loss.backward(), net));
    sent.push_back(session->wire_stats().bytes_sent);
  }
  const auto per_step = static_cast<double>(sent.back() - sent[9]) / static_cast<double>(sent.size() - 10);
  constexpr double kBatchBytes = kBatch * (28 * 28 + 1);
  RecordProperty("bytes_per_step", static_cast<int>(per_step));
  std::cout << "bytes per step: " << per_step << ", of which pixels and labels " << kBatchBytes << '\n';
  EXPECT_GE(per_step, kBatchBytes);
  EXPECT_LT(per_step, kBatchBytes + 768);  // the batch in f32 and i64 would be 201,216
}

TEST_P(StepTraffic, ConstantsThatAreUploadedAgainStayOnTheWorker) {
  const server::Server worker(test::on_every_transport());
  const Device device = Device::new_session(worker.urls().at(GetParam()));
  auto* session = dynamic_cast<net::RemoteSession*>(&device.state()->session());
  const TensorData weights(std::vector<float>(1 << 18, 0.5f), {1 << 18});  // 1 MiB
  const auto first = Tensor<1>::from_data(weights, device);
  const auto after_first = session->wire_stats().bytes_sent;
  const auto second = Tensor<1>::from_data(weights, device);
  const auto after_second = session->wire_stats().bytes_sent;
  EXPECT_EQ(after_second, after_first);
  EXPECT_EQ((first - second).abs().max().into_scalar<float>(), 0.0f);
}

TEST(StepTraffic, EmbeddedIsOneRunAndNoNewProgramToo) {
  const Device device = Device::new_session("cpu");
  std::vector<client::DeviceStats> after;
  test::train_digits(device.autodiff(), 10, 8,
                     [&](int, const Tensor<1>&) { after.push_back(device.state()->stats()); });
  for (std::size_t step = 5; step < after.size(); ++step) {
    EXPECT_EQ(after[step].runs - after[step - 1].runs, 1u);
    EXPECT_EQ(after[step].programs_defined, after[4].programs_defined);
  }
}

std::string transport_name(const ::testing::TestParamInfo<std::size_t>& info) {
  const char* const names[] = {"websocket", "grpc", "unix"};
  return names[info.param];
}

INSTANTIATE_TEST_SUITE_P(OnEveryTransport, StepTraffic, ::testing::Values(0, 1, 2), transport_name);

}  // namespace
}  // namespace burn
