// Random programs through the tensor API: recorded whole, and op by op. What is computed must not depend on where a
// recording ends.
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "burn/burn.h"

namespace burn {
namespace {

constexpr std::int64_t kRows = 5, kColumns = 7;

// Makes the same choices for the same seed, whatever is computed from them.
class RandomWalk {
 public:
  RandomWalk(std::uint32_t seed, const Device& device, bool eager) : random_(seed), device_(device), eager_(eager) {
    for (int i = 0; i < 3; ++i) {
      std::vector<float> numbers(kRows * kColumns);
      for (auto& number : numbers) number = std::uniform_real_distribution<float>(-2, 2)(random_);
      values_.push_back(
          Tensor<2>::from_data(TensorData(std::move(numbers), {kRows, kColumns}), device_).require_grad());
    }
    leaves_ = values_;
  }

  // Returns the values that are alive at the end, and the gradients of the leaves.
  std::vector<std::vector<float>> run(int steps) {
    for (int step = 0; step < steps; ++step) {
      auto next = make();
      if (eager_) next.device().sync();
      if (values_.size() < 8) {
        values_.push_back(next);
      } else {
        values_[pick(values_.size())] = next;  // drops one, which may be pending or an input
      }
    }
    auto loss = (values_[0] * 0.25f).sum();
    for (const auto& value : values_) loss = loss + value.tanh().mean();
    const auto gradients = loss.backward();
    std::vector<std::vector<float>> results;
    for (const auto& value : values_) results.push_back(value.to_data().to_vec<float>());
    for (const auto& leaf : leaves_) {
      const auto gradient = leaf.grad(gradients);
      results.push_back(gradient ? gradient->to_data().to_vec<float>() : std::vector<float>{});
    }
    return results;
  }

 private:
  std::size_t pick(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }
  const Tensor<2>& any() { return values_[pick(values_.size())]; }

  Tensor<2> make() {
    const auto a = any(), b = any();
    const auto scalar = std::uniform_real_distribution<float>(-1, 1)(random_);
    switch (pick(14)) {
      case 0:
        return a + b;
      case 1:
        return a - b;
      case 2:
        return (a * b).tanh();
      case 3:
        return a * scalar + b.tanh();
      case 4:
        return a / (b * b + 1.0f);
      case 5:
        return activation::softmax(a, 1);
      case 6:
        return a.exp().clamp(0.0f, 3.0f);
      case 7:
        return (a - a.mean_dim(1)).tanh();
      case 8:
        return a.matmul(b.transpose()).matmul(b).tanh();
      case 9:
        return Tensor<2>::cat({a.narrow(0, 2, 3), b.narrow(0, 0, 2)}, 0);
      case 10:
        return a.flip({1}) + b;
      case 11:
        return a.mask_where(b.greater(a), b);
      case 12:
        return a.sum_dim(0) / 5.0f + b;
      default:
        return a.detach() + b;
    }
  }

  std::mt19937 random_;
  const Device device_;
  const bool eager_;
  std::vector<Tensor<2>> values_, leaves_;
};

TEST(LazyAndEager, GiveTheSameNumbersForThreeHundredRandomPrograms) {
  const Device device = Device::new_session("cpu").autodiff();
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    const auto lazy = RandomWalk(seed, device, false).run(40), eager = RandomWalk(seed, device, true).run(40);
    ASSERT_EQ(lazy.size(), eager.size());
    for (std::size_t i = 0; i < lazy.size(); ++i) {
      ASSERT_EQ(lazy[i].size(), eager[i].size());
      for (std::size_t k = 0; k < lazy[i].size(); ++k) {
        const auto a = lazy[i][k], b = eager[i][k];
        ASSERT_TRUE(std::isfinite(a) && std::isfinite(b));
        ASSERT_LE(std::abs(a - b), 1e-5f + 1e-4f * std::abs(b))
            << "seed " << seed << ", value " << i << ", element " << k;
      }
    }
  }
}

}  // namespace
}  // namespace burn
