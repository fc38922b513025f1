// An embedding table with sparse gradients, batches of its rows, and a reference in doubles that updates row by row.
#pragma once

#include <cmath>
#include <limits>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/capture/capture.h"
#include "data/random.h"
#include "nn/functional/layers.h"
#include "nn/layer/embedding.h"
#include "tests/support/error_of.h"
#include "train/optim/optim.h"

namespace burn {

using test::error_of;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr std::int64_t kCount = 7, kWidth = 3;

struct Words {
  nn::Embedding table;
  BURN_MODULE(Words, table)

  static Words init(const Device& device, bool sparse, DType dtype = DType::f32) {
    std::vector<float> numbers;
    numbers.reserve(static_cast<std::size_t>(kCount * kWidth));
    for (int i = 0; i < kCount * kWidth; ++i) numbers.push_back(static_cast<float>((i * 5) % 11 - 5) / 8);
    const auto table = Tensor<2>::from_data(TensorData(numbers, {kCount, kWidth}), device).cast(dtype);
    return {.table = {.weight = table, .sparse = sparse}};
  }
  std::vector<double> numbers() const { return table.weight.val().to_data().to_vec_as<double>(); }
};

// The rows to look up, and the gradient of each.
struct Batch {
  std::vector<std::int64_t> rows;
  std::vector<float> gradients;  // [rows, kWidth]

  std::int64_t size() const { return static_cast<std::int64_t>(rows.size()); }
  Tensor<1, Int> index(const Device& device) const {
    return Tensor<1, Int>::from_data(TensorData(rows, {size()}), device);
  }
  Tensor<2> weights(const Device& device) const {
    return Tensor<2>::from_data(TensorData(gradients, {size(), kWidth}), device);
  }
};

// sum(weights * found): its gradient with respect to `found` is the weights.
inline Tensor<1> loss_of(const Words& words, const Batch& batch) {
  const auto device = words.table.weight.val().device();
  const auto found = words.table(batch.index(device));
  return (found * batch.weights(device).cast(found.dtype())).sum();
}
inline GradientsParams gradients_of(const Words& words, const Batch& batch) {
  return GradientsParams::from_grads(loss_of(words, batch).backward(), words);
}
inline Words step(optim::Optimizer<Words>& optim, Words words, const Batch& batch, double lr = 0.1) {
  return optim.step(lr, std::move(words), gradients_of(words, batch));
}

inline Batch batch_of(data::Rng& rng, std::vector<std::int64_t> rows) {
  Batch batch{std::move(rows), {}};
  for (std::int64_t i = 0; i < batch.size() * kWidth; ++i) batch.gradients.push_back(rng.uniform() - 0.5f);
  return batch;
}
// Batches that cycle through: 6 random rows, with duplicates; one row; every row once; no row; 6 random rows.
inline std::vector<Batch> batches(std::size_t count) {
  data::Rng rng{5};
  std::vector<Batch> result;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::int64_t> rows;
    if (i % 5 == 1) {
      rows = {3};
    } else if (i % 5 == 2) {
      rows = {6, 0, 2, 4, 1, 5, 3};
    } else if (i % 5 != 3) {
      for (int k = 0; k < 6; ++k) rows.push_back(static_cast<std::int64_t>(rng.below(kCount)));
    }
    result.push_back(batch_of(rng, rows));
  }
  return result;
}
inline Batch all_rows(data::Rng& rng) { return batch_of(rng, {6, 0, 2, 4, 1, 5, 3}); }

// PyTorch's updates from sparse gradients by SGD, SparseAdam and Adagrad, reimplemented in doubles.
struct Reference {
  std::vector<double> table, first = std::vector<double>(kCount * kWidth), second = first;
  double step = 0;

  // Calls rule(index, sum of the gradients) for every element of the rows in the batch.
  template <typename Rule>
  void for_each_element(const Batch& batch, const Rule& rule) {
    step += 1;
    std::map<std::int64_t, double> sums;
    for (std::size_t i = 0; i < batch.gradients.size(); ++i)
      sums[batch.rows[i / kWidth] * kWidth + static_cast<std::int64_t>(i % kWidth)] += batch.gradients[i];
    for (const auto& [place, sum] : sums) rule(static_cast<std::size_t>(place), sum);
  }
  void sgd(const Batch& batch) {
    for_each_element(batch, [&](std::size_t i, double g) { table[i] -= 0.1 * g; });
  }
  void adam(const Batch& batch, double epsilon) {
    for_each_element(batch, [&](std::size_t i, double g) {
      first[i] += (g - first[i]) * (1 - 0.9);
      second[i] += (g * g - second[i]) * (1 - 0.999);
      const double size = 0.1 * std::sqrt(1 - std::pow(0.999, step)) / (1 - std::pow(0.9, step));
      table[i] -= size * first[i] / (std::sqrt(second[i]) + epsilon);
    });
  }
  void ada_grad(const Batch& batch, double epsilon, double decay) {
    for_each_element(batch, [&](std::size_t i, double g) {
      second[i] += g * g;
      table[i] -= 0.1 / (1 + (step - 1) * decay) * g / (std::sqrt(second[i]) + epsilon);
    });
  }
};

MATCHER_P(IsNear, tolerance, "") { return std::abs(std::get<0>(arg) - std::get<1>(arg)) <= tolerance; }

class SparseGradients : public ::testing::Test {
 protected:
  Device device = Device{"cpu"}.autodiff();

  Words words(bool sparse = true, DType dtype = DType::f32) { return Words::init(device, sparse, dtype); }
  template <typename Rule>
  void expect_same_as_reference(const optim::ModuleOptimizer& engine, const Rule& rule) {
    for (const auto& [dtype, tolerance] : {std::pair{DType::f32, 1e-5}, {DType::f64, 1e-12}}) {
      optim::Optimizer<Words> optim{engine};
      Words model = words(true, dtype);
      Reference reference{model.numbers()};
      for (const auto& batch : batches(50)) {
        model = step(optim, std::move(model), batch);
        rule(reference, batch);
      }
      EXPECT_THAT(model.numbers(), Pointwise(IsNear(tolerance), reference.table)) << ir::name(dtype);
    }
  }
  // Takes the same steps with sparse and with dense gradients, and compares the resulting tables.
  void expect_same_as_dense(const optim::ModuleOptimizer& engine, const std::vector<Batch>& all, double tolerance) {
    std::vector<double> results[2];
    for (const bool sparse : {false, true}) {
      optim::Optimizer<Words> optim{engine};
      Words model = words(sparse);
      for (const auto& batch : all) model = step(optim, std::move(model), batch);
      results[sparse ? 1 : 0] = model.numbers();
    }
    EXPECT_THAT(results[1], Pointwise(IsNear(tolerance), results[0]));
  }
};

}  // namespace burn
