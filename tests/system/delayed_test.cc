// A training on a device that works on its own, beside others of the same worker.
#include <gtest/gtest.h>

#include "tests/support/delayed_backend.h"  // makes "delayed" known
#include "tests/system/digits_training.h"

namespace burn::test {
namespace {

TEST(DelayedWorker, TrainsAsTheCpuDoes) {
  const server::Server server{on_every_transport("delayed")};
  const auto expected = losses_on(Device{"cpu"}, 6);
  for (const auto& url : server.urls()) EXPECT_EQ(losses_on(Device{url}, 6), expected) << url;
}

TEST(DelayedWorker, TellsWhereAnIndexWasWrong) {
  const server::Server server{on_every_transport("delayed")};
  const Device device{server.url()};
  const auto x = Tensor<1>::from_data(TensorData(std::vector<float>{1, 2, 3}, {3}), device);
  const auto index = Tensor<1, Int>::from_data(TensorData(std::vector<std::int64_t>{7}, {1}), device);
  const auto picked = x.gather(0, index) * 2;
  try {
    (void)picked.to_data();
    FAIL() << "there is no element 7";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), StatusCode::out_of_range);
    EXPECT_NE(std::string{error.what()}.find("gather: index 7 is outside 0..2"), std::string::npos) << error.what();
    EXPECT_NE(std::string{error.what()}.find("delayed_test.cc:"), std::string::npos) << error.what();
  }
  EXPECT_EQ(x.to_data().to_vec<float>(), (std::vector<float>{1, 2, 3}));
}

// "ws://host:port" -> "ws://host:port/1", "unix:path" -> "unix/1:path".
std::string at_device(const std::string& url, int k) {
  const auto number = "/" + std::to_string(k);
  if (url.find("unix:") == std::string::npos) return url + number;
  return std::string{url}.insert(url.find(':'), number);
}

TEST(SeveralDevices, AreChosenByTheUrl) {
  const server::Server server{on_every_transport("null,cpu,delayed")};
  ASSERT_EQ(server.urls().size(), 4u);
  for (const auto& url : server.urls()) {
    for (int k = 0; k < 3; ++k) {
      const Device device{at_device(url, k)};
      const auto x = Tensor<1>::from_data(TensorData(std::vector<float>{1, 2}, {2}), device) + 1;
      const auto expected = k == 0 ? std::vector<float>{0, 0} : std::vector<float>{2, 3};
      EXPECT_EQ(x.to_data().to_vec<float>(), expected) << at_device(url, k);
    }
    try {
      const Device device{at_device(url, 3)};
      FAIL() << "there is no such device";
    } catch (const Error& error) {
      EXPECT_NE(std::string{error.what()}.find("the worker has 0: null, 1: cpu, 2: delayed"), std::string::npos)
          << error.what();
    }
  }
}

TEST(SeveralDevices, AreOfKindsThatThereAre) {
  for (const char* list : {"cpu,abacus", "cpu:0,1", "cpu,cpu"}) {
    EXPECT_THROW(server::Server{on_every_transport(list)}, Error) << list;
  }
}

}  // namespace
}  // namespace burn::test
