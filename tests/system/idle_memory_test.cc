// A worker whose sessions are gone gives their memory back, and one whose session needs less than it did, too.
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "burn/burn.h"
#include "tests/server/process.h"
#include "tests/system/resident.h"

namespace burn {
namespace {

using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

constexpr int kIdleMiB = 64;       // what the worker may keep
constexpr double kSlackMiB = 128;  // programs, threads, what allocators cannot give back

// Programs of ever new shapes and sizes, with no more than some 1.2 GB alive at a time: large uploads, matrices, sums.
void work_hard(const Device& device, std::int64_t seed) {
  std::vector<Tensor<2>> held;
  double mib = 0;
  for (std::int64_t i = 0; i < 40; ++i) {
    const std::int64_t rows = 600 + (i * 977 + seed * 131) % 3000, columns = 800 + (i * 1409 + seed * 17) % 4000;
    auto x = Tensor<2>::ones({rows, columns}, device);
    if (i % 6 == 0) {
      const std::vector<float> numbers(static_cast<std::size_t>(rows * columns), 1.0f);
      x = Tensor<2>::from_data(TensorData(numbers, {rows, columns}), device);
    }
    held.push_back((x * 2).exp() + x.sum_dim(0));
    const auto wide = x.slice({Range{0, 50}});
    held.push_back(wide.transpose().matmul(wide));  // libraries have scratch of their own
    mib += static_cast<double>(columns * columns) * 4 / (1 << 20);
    for (std::int64_t k = 0; k < 100; ++k) held.push_back(Tensor<2>::full({1 + k, 10 + i}, 2.0, device) * 3);
    mib += static_cast<double>(rows * columns) * 4 / (1 << 20);
    device.sync();
    if (mib > 1000) {
      held.clear();
      mib = 0;
    }
  }
  device.sync();
}

// Until it is below, for some seconds; where it is then.
double settled_mib(pid_t process, double below) {
  const auto until = Clock::now() + seconds{10};
  double now = test::resident_mib(process);
  while (now > below && Clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    now = test::resident_mib(process);
  }
  return now;
}

void expect_settled(pid_t process, double at_first, double busy) {
  const double allowed = at_first + kIdleMiB + kSlackMiB;
  const double after = settled_mib(process, allowed);
  std::printf("at first %.0f MiB, after work %.0f, idle %.0f\n", at_first, busy, after);
  EXPECT_GT(busy, 500);
  EXPECT_LT(busy, 2500);  // half as much again as was alive, and what is on its way
  EXPECT_LT(after, allowed);
}

class IdleMemoryOver : public ::testing::TestWithParam<const char*> {};

TEST_P(IdleMemoryOver, OfAWorkerGoesBackWhenTheLastSessionIsGone) {
  server::Process worker({BURN_SERVER, "--device", "cpu", "--ws", "127.0.0.1:0", "--grpc", "127.0.0.1:0",
                          "--idle-memory", std::to_string(kIdleMiB) + "M"});
  const std::string listening = "listening ";
  std::string url;
  while (!url.starts_with(listening + GetParam())) {
    url = worker.read_line();
    ASSERT_FALSE(url.empty());
  }
  url = url.substr(listening.size());
  const double at_first = test::resident_mib(worker.id());
  double busy = 0;
  for (int session = 0; session < 3; ++session) {
    work_hard(Device::new_session(url), session);
    busy = std::max(busy, test::resident_mib(worker.id()));
  }
  expect_settled(worker.id(), at_first, busy);
}

TEST(IdleMemory, OfAProcessGoesBackWhenTheLastDeviceInItIsGone) {
  const double at_first = test::resident_mib(::getpid());
  double busy = 0;
  {
    const auto device = Device::new_session("cpu");
    work_hard(device, 1);
    busy = test::resident_mib(::getpid());
  }
  expect_settled(::getpid(), at_first, busy);
}

INSTANTIATE_TEST_SUITE_P(OnEveryTransport, IdleMemoryOver, ::testing::Values("ws", "grpc"),
                         [](const auto& info) { return std::string{info.param}; });

}  // namespace
}  // namespace burn
