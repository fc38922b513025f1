// Collectives beside the computation, on a driver without a GPU that does everything in whatever order events allow:
// commands are copies between places in memory, some of them on the side stream.
#include "backends/cuda/runtime/side_stream.h"

#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/backends/cuda/simulated_driver/simulation.h"

namespace burn::testing {
namespace {

using backends::cuda::driver;
using backends::cuda::Lanes;
using backends::cuda::SideStream;

constexpr std::size_t kPlaces = 6, kBytes = 64;

struct Copy {
  std::size_t from = 0, to = 0;
};

class SideStreams : public ::testing::Test {
 protected:
  void SetUp() override {
    value_or_throw(backends::cuda::load_driver());
    driver().cuStreamCreateWithPriority(&stream_, CU_STREAM_NON_BLOCKING, 0);
    driver().cuMemAlloc(&memory_, kPlaces * kBytes);
  }
  void TearDown() override {
    driver().cuStreamSynchronize(stream_);
    driver().cuMemFree(memory_);
    driver().cuStreamDestroy(stream_);
  }

  CUdeviceptr place(std::size_t k) const { return memory_ + k * kBytes; }
  Lanes lanes_of(const std::vector<Copy>& copies, std::mt19937_64& random) const {
    std::vector<std::vector<compile::MemoryUse>> uses;
    Lanes lanes;
    for (const auto& [from, to] : copies) {
      uses.push_back({{place(from), place(from) + kBytes, false}, {place(to), place(to) + kBytes, true}});
      lanes.is_on_side_stream.push_back(random() % 3 == 0);
    }
    lanes.order = compile::order_commands(uses);
    return lanes;
  }
  // Fills the places, does the copies, and reads the places, all on one stream for the caller.
  std::vector<std::byte> run(SideStream& side, const Lanes& lanes, const std::vector<Copy>& copies) {
    for (std::size_t k = 0; k < kPlaces; ++k)
      driver().cuMemsetD8Async(place(k), static_cast<unsigned char>(k + 1), kBytes, stream_);
    const auto status = side.enqueue(lanes, stream_, [&](std::size_t i, CUstream on) {
      return backends::cuda::check(driver().cuMemcpyDtoDAsync(place(copies[i].to), place(copies[i].from), kBytes, on),
                                   "copy");
    });
    EXPECT_TRUE(status.ok()) << status.to_string();
    std::vector<std::byte> all(kPlaces * kBytes);
    driver().cuMemcpyDtoHAsync(all.data(), memory_, all.size(), stream_);
    driver().cuStreamSynchronize(stream_);
    return all;
  }

  CUstream stream_ = nullptr;
  CUdeviceptr memory_ = 0;
};

TEST_F(SideStreams, DoWhatOneStreamWouldDo) {
  std::mt19937_64 random(7);
  const auto side = value_or_throw(SideStream::open());
  for (int again = 0; again < 300; ++again) {
    std::vector<Copy> copies;
    std::vector<unsigned char> expected;
    for (std::size_t k = 0; k < kPlaces; ++k) expected.push_back(static_cast<unsigned char>(k + 1));
    for (auto count = random() % 24; count > 0; --count) {
      copies.push_back({random() % kPlaces, random() % kPlaces});
      expected[copies.back().to] = expected[copies.back().from];
    }
    const auto all = run(*side, lanes_of(copies, random), copies);
    for (std::size_t k = 0; k < kPlaces; ++k)
      ASSERT_EQ(static_cast<unsigned char>(all[k * kBytes]), expected[k]) << "place " << k << " of run " << again;
  }
}

TEST_F(SideStreams, StopAtTheFirstFailureAndStayUsable) {
  const auto side = value_or_throw(SideStream::open());
  const Lanes lanes{{true, false, true}, {{}, {}, {}}};
  int calls = 0;
  const auto status = side->enqueue(
      lanes, stream_, [&](std::size_t, CUstream) -> Status { return ++calls == 2 ? internal_error("no") : Status{}; });
  EXPECT_EQ(status.to_string(), "INTERNAL: no");
  EXPECT_EQ(calls, 2);
  const std::vector<Copy> copies{{0, 1}, {1, 2}, {2, 3}};
  std::mt19937_64 random(1);
  const auto all = run(*side, lanes_of(copies, random), copies);
  EXPECT_EQ(static_cast<unsigned char>(all[3 * kBytes]), 1);
}

}  // namespace
}  // namespace burn::testing
