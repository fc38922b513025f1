// What a training step costs on the wire once it is known: one run, the batch, and nothing else.
#include <gtest/gtest.h>

#include "client/device_state.h"
#include "client/remote_session.h"
#include "tests/system/digits_training.h"

namespace burn {
namespace {

class StepTraffic : public ::testing::TestWithParam<std::size_t> {};

TEST_P(StepTraffic, IsOneRunTheBatchAndNoProgramText) {
  const server::Server worker(test::on_every_transport());
  const Device device = Device::new_session(worker.urls().at(GetParam()));
  auto* session = dynamic_cast<client::RemoteSession*>(&device.state()->session());
  ASSERT_NE(session, nullptr);
  constexpr std::int64_t kBatch = 32;
  constexpr std::uint64_t kBatchBytes = kBatch * (28 * 28 + 8);  // u8 pixels, i64 labels
  std::vector<client::WireStats> after;
  test::train_digits(device.autodiff(), 30, kBatch, [&](int, const Tensor<1>&) { after.push_back(session->wire_stats()); });
  device.sync();
  for (std::size_t step = 10; step < after.size(); ++step) {
    EXPECT_EQ(after[step].programs_sent, after[9].programs_sent) << "step " << step << " sent program text";
    EXPECT_EQ(after[step].runs_sent - after[step - 1].runs_sent, 1u);
    EXPECT_EQ(after[step].frames_sent - after[step - 1].frames_sent, 3u) << "a run, the pixels and the labels";
    const auto beside_the_batch = after[step].bytes_sent - after[step - 1].bytes_sent - kBatchBytes;
    EXPECT_LT(beside_the_batch, 512u);
  }
}

TEST(StepTraffic, EmbeddedIsOneRunAndNoNewProgramToo) {
  const Device device = Device::new_session("cpu");
  std::vector<client::DeviceStats> after;
  test::train_digits(device.autodiff(), 10, 8, [&](int, const Tensor<1>&) { after.push_back(device.state()->stats()); });
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
