// The same program on every device URL.
#include <gtest/gtest.h>

#include "client/record/device_state.h"
#include "tests/system/digits_training.h"

namespace burn {
namespace {

TEST(Transports, TheSameSeedGivesTheSameLossesInProcessAndOverEverySocket) {
  const auto embedded = test::losses_on(Device::new_session("cpu"), 12);
  EXPECT_LT(embedded.back(), embedded.front());
  const server::Server worker(test::on_every_transport());
  ASSERT_EQ(worker.urls().size(), 4u);
  for (const auto& url : worker.urls()) EXPECT_EQ(test::losses_on(Device::new_session(url), 12), embedded) << url;
}

TEST(Transports, AShutDownServerIsAnErrorThatNamesIt) {
  server::Server worker(test::on_every_transport());
  for (const auto& url : worker.urls()) {
    const Device device = Device::new_session(url);
    const auto x = Tensor<1>::from_data({1, 2}, device);
    EXPECT_EQ((x + x).to_data().to_vec<float>()[1], 4.0f);
    if (url != worker.urls().back()) continue;
    worker.stop();
    try {
      (void)(x + 1).to_data();
      FAIL() << "read from a server that is gone";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(url), std::string::npos) << error.what();
    }
  }
}

TEST(Transports, LargeUploadsAreRememberedUnlessTheyGoThroughMemory) {
  const server::Server worker(test::on_every_transport());
  for (const auto& url : worker.urls()) {
    const Device device = Device::new_session(url);
    const auto upload_twice = [&](std::int64_t count) {
      const TensorData data(std::vector<float>(static_cast<std::size_t>(count), 2.0f), {count});
      const auto first = Tensor<1>::from_data(data, device), second = Tensor<1>::from_data(data, device);
      EXPECT_EQ((first + second).sum().to_data().to_vec<float>()[0], 4.0f * static_cast<float>(count));
      return device.state()->stats().uploads_reused;
    };
    EXPECT_EQ(upload_twice(1 << 16), 1u) << url;
    EXPECT_EQ(upload_twice(1 << 20), url.starts_with("unix:") ? 1u : 2u) << url;
  }
}

}  // namespace
}  // namespace burn
