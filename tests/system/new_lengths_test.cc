// Sequences of a thousand lengths, each a program of its own: what both ends remember of them has a bound.
//
// The bounds of the session and of its worker are small here, so that a thousand lengths go far beyond them. Both ends
// are in this process, and what is compared is its heap when the caches hold the same few programs, before and after
// the lengths. An entry that stayed for each length would be seen, wherever it is kept.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "backends/registry/registry.h"
#include "burn/burn.h"
#include "client/record/device_state.h"
#include "session/local_session.h"
#include "session/worker.h"
#include "tests/support/heap_in_use.h"
#include "tests/system/on_every_transport.h"

namespace burn {
namespace {

constexpr std::uint64_t kPrograms = 64;  // of a session; its client keeps to half of them
constexpr std::size_t kPlanBytes = std::size_t{2} << 20;
constexpr std::int64_t kLengths = 1000;  // on each side of the first look at the heap
constexpr std::int64_t kFeatures = 4, kHidden = 2;

struct Net {
  nn::Linear input;
  nn::Lstm lstm;
  BURN_MODULE(Net, input, lstm)

  static Net init(const Device& device) {
    return {.input = nn::LinearConfig{.d_input = kFeatures, .d_output = kHidden}.init(device),
            .lstm = nn::LstmConfig{.d_input = kHidden, .d_hidden = kHidden}.init(device)};
  }
  // Applies the first layer to the whole sequence and the second, which is unrolled, to its last `steps` elements.
  Tensor<1> loss(const Tensor<3>& x, std::int64_t steps) const {
    const auto y = input(x).tanh();
    return lstm.forward(y.narrow(1, y.dim(1) - steps, steps)).first.square().mean() + y.mean();
  }
};

struct SumOfSquares {
  Tensor<1> operator()(const Tensor<3>& x) const { return x.square().sum(); }
};

class Training {
 public:
  explicit Training(const Device& device) : device_(device.autodiff()), net_(init(device_)), sum_(device_, {}) {}

  // Trains on an uploaded sequence; from 256 elements on, a client checks whether the device already has its bytes.
  void step(std::int64_t batch, std::int64_t length) {
    std::vector<float> numbers(static_cast<std::size_t>(batch * length * kFeatures), 0.5f);
    numbers[0] = static_cast<float>(length);
    const auto x = Tensor<3>::from_data(TensorData(std::move(numbers), {batch, length, kFeatures}), device_);
    const auto loss = net_.loss(x, std::min<std::int64_t>(length, 1 + length / 2 % 8));
    net_ = optim_.step(1e-3, std::move(net_), optim::GradientsParams::from_grads(loss.backward(), net_));
    (void)sum_(x);
  }

  // The heap in use when all caches have evicted earlier entries: runs a fixed set of programs, larger than any cache.
  std::ptrdiff_t heap_with_the_same_programs() {
    constexpr std::int64_t kBatch = 2, kMany = 48;
    static_assert(kMany > static_cast<std::int64_t>(kPrograms / 2) &&
                  kMany > static_cast<std::int64_t>(client::CaptureEngine::kMaxRecordings));
    for (std::int64_t k = 1; k <= kMany; ++k) step(kBatch, 40 * k);
    device_.sync();
    auto least = test::heap_in_use();
    for (int look = 0; look < 20; ++look) {  // until other threads have freed their memory
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
      least = std::min(least, test::heap_in_use());
    }
    return least;
  }

  // The growth of the heap in bytes over a thousand odd lengths. Even lengths are run first, so that the blocks that
  // are kept for later tensors and messages exist in every size.
  std::ptrdiff_t growth() {
    train_on(2);
    const auto before = heap_with_the_same_programs();
    train_on(1);
    return heap_with_the_same_programs() - before;
  }

 private:
  // Trains on the lengths first, first + 2, ..., in an order that mixes long and short.
  void train_on(std::int64_t first) {
    constexpr std::int64_t kStride = 377;
    static_assert(std::gcd(kStride, kLengths) == 1);  // each length once
    for (std::int64_t i = 0; i < kLengths; ++i) step(1, first + i * kStride % kLengths * 2);
  }

  static Net init(const Device& device) {
    device.seed(1);
    return Net::init(device);
  }

  Device device_;
  Net net_;
  optim::Optimizer<Net> optim_ = optim::AdamConfig{}.init<Net>();
  Captured<SumOfSquares> sum_;  // each length is a recording of its own
};

// 24 bytes a length, less than the smallest entry of a hash table. CMakeLists.txt sets GLIBC_TUNABLES so that the
// allocator keeps nothing for its threads; what it keeps otherwise counts as in use and grows by up to 50 KiB here.
constexpr std::ptrdiff_t kMayGrow = 24 * kLengths;

TEST(NewLengths, AThousandOnADeviceOfThisProcessLeaveItsHeapAsItWas) {
  const auto worker = session::Worker::create(value_or_throw(backends::open_backend("cpu")), {},
                                              {.plans = kPrograms, .bytes = kPlanBytes});
  const Device device = Device::from_session("cpu", session::make_local_session(worker, {.programs = kPrograms}));
  const auto growth = Training{device}.growth();
  RecordProperty("bytes", std::to_string(growth));
  EXPECT_LT(growth, kMayGrow);
  const auto stats = worker->stats();
  EXPECT_LE(stats.plans, kPrograms);
  EXPECT_GE(stats.programs_new, 4 * static_cast<std::uint64_t>(kLengths));  // a step and a captured sum each
  EXPECT_GE(stats.plan_evictions, stats.programs_new - kPrograms);
}

TEST(NewLengths, AThousandOnAWorkerLeaveTheHeapOfBothEndsAsItWas) {
  auto options = test::on_every_transport();
  options.programs = kPrograms;
  options.plan_cache = kPlanBytes;
  const server::Server worker(options);
  const Device device = Device::new_session(worker.url());
  const auto growth = Training{device}.growth();
  RecordProperty("bytes", std::to_string(growth));
  EXPECT_LT(growth, kMayGrow);
  EXPECT_GE(device.state()->stats().programs_defined, 4 * static_cast<std::uint64_t>(kLengths));
}

}  // namespace
}  // namespace burn
