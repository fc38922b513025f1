// Transfers of tensors from one worker to another: the same numbers, and none of them passes through this program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/record/device_state.h"
#include "client/tensor/tensor.h"
#include "net/remote/remote_session.h"
#include "server/server.h"
#include "tests/support/error_of.h"

namespace burn {
namespace {

using test::error_of;
using testing::HasSubstr;

constexpr std::int64_t kRows = 300, kColumns = 1000;  // 1.2 MB

std::unique_ptr<server::Server> worker() {
  server::ServerOptions options;
  options.ws = "127.0.0.1:0";
  return std::make_unique<server::Server>(options);
}

class Transfers : public testing::Test {
 protected:
  Device open(std::size_t k) const { return Device::new_session(workers_[k]->url()); }
  static Tensor<2> numbers(const Device& device) {
    return Tensor<1>::arange(0, kRows * kColumns, device).reshape<2>({kRows, kColumns}) * 0.5;
  }
  static std::uint64_t uploads(const Device& device) { return device.state()->stats().uploads; }

  std::vector<std::unique_ptr<server::Server>> workers_{[] {
    std::vector<std::unique_ptr<server::Server>> all;
    all.reserve(3);
    for (int k = 0; k < 3; ++k) all.push_back(worker());
    return all;
  }()};
};

TEST_F(Transfers, HaveTheSameNumbersAndNoUpload) {
  const auto a = open(0), b = open(1), c = open(2);
  const auto x = numbers(a);
  const auto expected = x.to_data().to_vec<float>();
  for (int again = 0; again < 3; ++again) {
    const auto on_b = x.to_device(b);
    EXPECT_EQ(on_b.device(), b);
    const auto on_c = (on_b + 1).to_device(c);
    const auto back = (on_c - 1).to_device(a);  // back, and between two workers without a transfer so far
    EXPECT_EQ(back.to_data().to_vec<float>(), expected);
    EXPECT_EQ(on_b.to_data().to_vec<float>(), expected);
  }
  EXPECT_EQ(uploads(a) + uploads(b) + uploads(c), 0U);
}

// Counts the bytes that the program sends and receives during a transfer of 256 MiB.
TEST_F(Transfers, OfAQuarterOfAGibibyteTakeLessThanAKilobyteOfTheProgram) {
  const auto a = open(0), b = open(1);
  (void)numbers(a).to_device(b).to_data();  // the two workers connect
  const auto x = Tensor<1>::ones({std::int64_t{64} << 20}, a);
  a.sync();
  const auto moved = [&] {
    std::uint64_t bytes = 0;
    for (const auto& device : {a, b}) {
      const auto wire = dynamic_cast<net::RemoteSession&>(device.state()->session()).wire_stats();
      bytes += wire.bytes_sent + wire.bytes_received;
    }
    return bytes;
  };
  const auto before = moved();
  const auto on_b = x.to_device(b);
  b.sync();
  EXPECT_LT(moved() - before, 1000U);
  EXPECT_EQ(on_b.sum().into_scalar<float>(), static_cast<float>(64 << 20));
}

TEST_F(Transfers, OfWhatIsSmallGoThroughTheProgram) {
  const auto a = open(0), b = open(1);
  const auto x = Tensor<1>::ones({3}, a).to_device(b);
  EXPECT_EQ(x.to_data().to_vec<float>(), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(uploads(b), 1U);
}

TEST_F(Transfers, FromOrToThisProcessAreReadAndUploaded) {
  const auto here = Device::new_session("cpu"), there = open(0);
  const auto x = numbers(here).to_device(there);
  EXPECT_EQ(uploads(there), 1U);
  EXPECT_EQ(x.to_device(here).to_data().to_vec<float>().at(2), 1);
}

TEST_F(Transfers, OfAValueThatFailedFailWithItsCause) {
  const auto a = open(0), b = open(1);
  const auto at = Tensor<1, Int>::from_data(TensorData(std::vector<std::int64_t>{4711}, {1}), a);
  const auto x = numbers(a) + numbers(a).select(0, at);
  const auto moved = x.to_device(b);
  EXPECT_THAT(error_of([&] { (void)moved.to_data(); }), HasSubstr("index 4711 is outside 0..299"));
  EXPECT_EQ(numbers(a).to_device(b).to_data().to_vec<float>().at(1), 0.5F);  // both are still usable
}

TEST_F(Transfers, ToAWorkerThatIsGoneNameIt) {
  const auto a = open(0), b = open(1);
  (void)numbers(a).to_device(b).to_data();
  const auto url = b.url();
  workers_[1].reset();
  EXPECT_THAT(error_of([&] { (void)numbers(a).to_device(b).to_data(); }), HasSubstr(url));
}

}  // namespace
}  // namespace burn
