// Sparse gradients of tables: against a reference in doubles that goes row by row, and against dense gradients.
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
namespace {

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
    for (int i = 0; i < kCount * kWidth; ++i) numbers.push_back(static_cast<float>((i * 5) % 11 - 5) / 8);
    const auto table = Tensor<2>::from_data(TensorData(numbers, {kCount, kWidth}), device).cast(dtype);
    return {.table = {.weight = table, .sparse = sparse}};
  }
  std::vector<double> numbers() const { return table.weight.val().to_data().to_vec_as<double>(); }
};

// Rows that are looked up, and the gradient of each.
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

// The gradient of sum(weights * found) is the weights.
Tensor<1> loss_of(const Words& words, const Batch& batch) {
  const auto device = words.table.weight.val().device();
  const auto found = words.table(batch.index(device));
  return (found * batch.weights(device).cast(found.dtype())).sum();
}
GradientsParams gradients_of(const Words& words, const Batch& batch) {
  return GradientsParams::from_grads(loss_of(words, batch).backward(), words);
}
Words step(optim::Optimizer<Words>& optim, Words words, const Batch& batch, double lr = 0.1) {
  return optim.step(lr, std::move(words), gradients_of(words, batch));
}

Batch batch_of(data::Rng& rng, std::vector<std::int64_t> rows) {
  Batch batch{std::move(rows), {}};
  for (std::int64_t i = 0; i < batch.size() * kWidth; ++i) batch.gradients.push_back(rng.uniform() - 0.5f);
  return batch;
}
// With duplicates, without; none, one and all of the rows.
std::vector<Batch> batches(std::size_t count) {
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
Batch all_rows(data::Rng& rng) { return batch_of(rng, {6, 0, 2, 4, 1, 5, 3}); }

// What PyTorch does with the sparse gradients of SGD, SparseAdam and Adagrad, written down once more in doubles.
struct Reference {
  std::vector<double> table, first = std::vector<double>(kCount * kWidth), second = first;
  double step = 0;

  // Calls rule(place, sum of the gradients) for every element of the rows of the batch.
  template <typename Rule>
  void each(const Batch& batch, const Rule& rule) {
    step += 1;
    std::map<std::int64_t, double> sums;
    for (std::size_t i = 0; i < batch.gradients.size(); ++i)
      sums[batch.rows[i / kWidth] * kWidth + static_cast<std::int64_t>(i % kWidth)] += batch.gradients[i];
    for (const auto& [place, sum] : sums) rule(static_cast<std::size_t>(place), sum);
  }
  void sgd(const Batch& batch) {
    each(batch, [&](std::size_t i, double g) { table[i] -= 0.1 * g; });
  }
  void adam(const Batch& batch, double epsilon) {
    each(batch, [&](std::size_t i, double g) {
      first[i] += (g - first[i]) * (1 - 0.9);
      second[i] += (g * g - second[i]) * (1 - 0.999);
      const double size = 0.1 * std::sqrt(1 - std::pow(0.999, step)) / (1 - std::pow(0.9, step));
      table[i] -= size * first[i] / (std::sqrt(second[i]) + epsilon);
    });
  }
  void ada_grad(const Batch& batch, double epsilon, double decay) {
    each(batch, [&](std::size_t i, double g) {
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
  void expect_like(const optim::ModuleOptimizer& engine, const Rule& rule) {
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
  // Fifty steps with sparse gradients, and the same with dense ones.
  void expect_as_dense(const optim::ModuleOptimizer& engine, const std::vector<Batch>& all, double tolerance) {
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

// --- optimizers ------------------------------------------------------------------------------------------------------

TEST_F(SparseGradients, OfSgdMoveTheRowsThatTheyHave) {
  expect_like(optim::SgdConfig{}, [](Reference& reference, const Batch& batch) { reference.sgd(batch); });
}

TEST_F(SparseGradients, OfAdamAreSteppedAsSparseAdamDoes) {
  for (const double epsilon : {1e-5, 1e-2}) {
    expect_like(optim::AdamConfig{.epsilon = epsilon},
                [&](Reference& reference, const Batch& batch) { reference.adam(batch, epsilon); });
  }
}

TEST_F(SparseGradients, OfAdaGradMoveTheRowsThatTheyHave) {
  expect_like(optim::AdaGradConfig{.lr_decay = 0.1},
              [](Reference& reference, const Batch& batch) { reference.ada_grad(batch, 1e-5, 0.1); });
}

TEST_F(SparseGradients, AndDenseOnesAreTheSameToSgd) {
  expect_as_dense(optim::SgdConfig{}, batches(50), 1e-7);
  expect_as_dense(optim::SgdConfig{.momentum = optim::MomentumConfig{.nesterov = true}}, batches(50), 1e-7);
}

TEST_F(SparseGradients, OfAllRowsAreTheSameAsDenseOnes) {
  data::Rng rng{3};
  std::vector<Batch> all;
  for (int i = 0; i < 50; ++i) all.push_back(all_rows(rng));
  expect_as_dense(optim::AdamConfig{.epsilon = 0}, all, 1e-6);
  expect_as_dense(optim::AdaGradConfig{}, all, 1e-7);
}

TEST_F(SparseGradients, LeaveTheMomentsOfOtherRowsAlone) {
  auto optim = optim::AdamConfig{}.init<Words>();
  Words model = words();
  data::Rng rng{1};
  model = step(optim, std::move(model), all_rows(rng));
  const auto before = optim.to_record(model);
  const auto numbers = model.numbers();
  model = step(optim, std::move(model), batch_of(rng, {2, 5, 2}));
  const auto after = optim.to_record(model);
  EXPECT_EQ(after.get("table.weight/step").to_vec<std::int64_t>()[0], 2);
  const auto expect_moved = [](const std::vector<double>& was, const std::vector<double>& is, const char* what) {
    for (std::int64_t i = 0; i < kCount * kWidth; ++i) {
      const bool has_gradient = i / kWidth == 2 || i / kWidth == 5;
      EXPECT_EQ(was[static_cast<std::size_t>(i)] != is[static_cast<std::size_t>(i)], has_gradient) << what << i;
    }
  };
  expect_moved(numbers, model.numbers(), "table");
  for (const char* name : {"table.weight/moment_1", "table.weight/moment_2"})
    expect_moved(before.get(name).to_vec_as<double>(), after.get(name).to_vec_as<double>(), name);
}

TEST_F(SparseGradients, AreRefusedWhereAStepMovesEveryRow) {
  const auto message = [&](const optim::ModuleOptimizer& engine) {
    optim::Optimizer<Words> optim{engine};
    Words model = words();
    const auto gradients = gradients_of(model, batches(1)[0]);
    const auto before = model.numbers();
    const auto text = error_of([&] { model = optim.step(0.1, std::as_const(model), gradients); });
    EXPECT_EQ(model.numbers(), before);
    return text;
  };
  EXPECT_THAT(message(optim::AdamConfig{.weight_decay = 0.1}),
              AllOf(HasSubstr("step: adam takes no sparse gradient of table.weight, f32[7, 3]"),
                    HasSubstr("weight_decay"), HasSubstr("sparse_gradients_test.cc:")));
  EXPECT_THAT(message(optim::AdamConfig{.amsgrad = true}), HasSubstr("amsgrad"));
  EXPECT_THAT(message(optim::AdamWConfig{}), HasSubstr("AdamWConfig decays every row"));
  EXPECT_THAT(message(optim::SgdConfig{.weight_decay = 0.1}), HasSubstr("weight_decay"));
  EXPECT_THAT(message(optim::AdaGradConfig{.weight_decay = 0.1}), HasSubstr("weight_decay"));
  EXPECT_THAT(message(optim::RmsPropConfig{}), HasSubstr("rms_prop takes no sparse gradient"));
  EXPECT_THAT(message(optim::AdanConfig{}), HasSubstr("adan takes no sparse gradient"));
  EXPECT_THAT(message(optim::MuonConfig{}), HasSubstr("muon takes no sparse gradient"));
}

TEST_F(SparseGradients, GoToTheOptimizerOfTheirGroup) {
  auto optim = optim::AdamWConfig{}.init<Words>();
  optim.with_group(ParamGroup::from_path("table"), optim::AdaGradConfig{});
  Words model = words();
  Reference reference{model.numbers()};
  for (const auto& batch : batches(5)) {
    model = step(optim, std::move(model), batch);
    reference.ada_grad(batch, 1e-5, 0);
  }
  EXPECT_THAT(model.numbers(), Pointwise(IsNear(1e-5), reference.table));
}

TEST_F(SparseGradients, GoOnFromARecordOfDenseSteps) {
  auto dense = optim::AdamConfig{}.init<Words>();
  data::Rng rng{2};
  Words model = step(dense, words(false), all_rows(rng));
  const auto batch = batch_of(rng, {1, 1, 4});
  Words sparse = words().load_record(model.into_record());
  auto first = optim::AdamConfig{}.init<Words>();
  first.load_record(sparse, dense.to_record(model));
  sparse = step(first, std::move(sparse), batch);
  auto second = optim::AdamConfig{}.init<Words>();
  second.load_record(sparse, first.to_record(sparse));
  const auto ways = {step(first, sparse, batch).numbers(), step(second, sparse, batch).numbers()};
  EXPECT_EQ(*ways.begin(), *(ways.begin() + 1));
}

TEST_F(SparseGradients, OfSixteenBitTablesAreAddedUpInF32) {
  for (const auto dtype : {DType::f16, DType::bf16}) {
    auto optim = optim::AdamConfig{}.init<Words>();
    Words model = words(true, dtype);
    Reference reference{model.numbers()};
    data::Rng rng{4};
    for (int i = 0; i < 3; ++i) {
      auto batch = batch_of(rng, {2, 2, 2, 5});
      for (auto& g : batch.gradients) g = std::round(g * 16) / 16;  // numbers that both dtypes have
      model = step(optim, std::move(model), batch);
      reference.adam(batch, 1e-5);
    }
    EXPECT_EQ(model.table.weight.val().dtype(), dtype);
    EXPECT_THAT(model.numbers(), Pointwise(IsNear(0.01), reference.table));
    EXPECT_EQ(optim.to_record(model).get("table.weight/moment_1").dtype(), DType::f32);
  }
}

TEST_F(SparseGradients, OfACapturedStepAreThoseOfARecordedOne) {
  const auto all = batches(20);
  auto recorded = optim::AdamConfig{}.init<Words>(), replayed = recorded;
  Words model = words(), other = words();
  auto captured = capture(device, [&](Words& net, optim::Optimizer<Words>& optim, const Tensor<1, Int>& index,
                                      const Tensor<2>& weights, Scalar lr) {
    const auto loss = (net.table(index) * weights).sum();
    net = optim.step(lr, std::move(net), GradientsParams::from_grads(loss.backward(), net));
    return loss;
  });
  for (std::size_t i = 0; i < all.size(); i += 5) {
    model = step(recorded, std::move(model), all[i]);
    captured(other, replayed, all[i].index(device), all[i].weights(device), Scalar{0.1});
  }
  EXPECT_EQ(other.numbers(), model.numbers());
}

// --- gradients -------------------------------------------------------------------------------------------------------

TEST_F(SparseGradients, AreDenseWhereATensorIsAskedFor) {
  const auto batch = batches(1)[0];
  const Words sparse = words(), dense = words(false);
  const auto want = *gradients_of(dense, batch).get(dense.table.weight);
  const auto got = gradients_of(sparse, batch);
  EXPECT_TRUE(got.get_sparse(sparse.table.weight.id()).has_value());
  EXPECT_EQ(got.size(), 1u);
  EXPECT_EQ(got.get(sparse.table.weight)->to_data().to_vec<float>(), want.to_data().to_vec<float>());
  const auto leaf = sparse.table.weight.val();
  auto by_leaf = loss_of(sparse, batch).backward();
  EXPECT_EQ(by_leaf.size(), 1u);
  EXPECT_EQ(leaf.grad(by_leaf)->to_data().to_vec<float>(), want.to_data().to_vec<float>());
  EXPECT_TRUE(leaf.grad_remove(by_leaf).has_value());
  EXPECT_EQ(by_leaf.size(), 0u);
  EXPECT_FALSE(leaf.grad(by_leaf).has_value());
}

TEST_F(SparseGradients, OfATableWithOtherUsesAddUp) {
  const auto all = batches(3);
  const auto gradient = [&](bool sparse, bool is_tied) {
    const Words model = words(sparse);
    auto loss = loss_of(model, all[0]) + loss_of(model, all[1]) + loss_of(model, all[2]);
    if (is_tied) loss = loss + (model.table.weight.val() * 0.5f).sum();
    const auto gradients = GradientsParams::from_grads(loss.backward(), model);
    EXPECT_EQ(gradients.get_sparse(model.table.weight.id()).has_value(), sparse && !is_tied);
    return gradients.get(model.table.weight)->to_data().to_vec_as<double>();
  };
  for (const bool is_tied : {false, true})
    EXPECT_THAT(gradient(true, is_tied), Pointwise(IsNear(1e-6), gradient(false, is_tied)));
}

TEST_F(SparseGradients, OfASelectedParameterHaveItsRows) {
  const Param<3> table{Tensor<3>::ones({4, 2, 3}, device)};
  const auto index = Tensor<1, Int>::from_data({3, 1, 3}, device);
  auto gradients = module::select_sparse(table.val(), index).sum().backward();
  const auto sparse = gradients.remove_sparse(table.val().value());
  ASSERT_TRUE(sparse.has_value());
  EXPECT_EQ(sparse->rows.shape(), (ir::Shape{3, 2, 3}));
  EXPECT_EQ(sparse->shape, (ir::Shape{4, 2, 3}));
  EXPECT_EQ((Tensor<1, Int>{sparse->index}.to_data().to_vec<std::int64_t>()), (std::vector<std::int64_t>{3, 1, 3}));
  // A table that is computed has a dense one, which goes on to what it is computed from.
  const auto doubled = module::select_sparse(table.val() * 2, index).sum().backward();
  EXPECT_EQ(table.val().grad(doubled)->sum().item(), 36);
}

TEST_F(SparseGradients, AreDenseWhereTheGraphIsKeptForMore) {
  const Words model = words();
  const auto leaf = model.table.weight.val();
  const auto loss = model.table(Tensor<1, Int>::from_data({1, 1}, device)).powi(2).sum();
  const auto gradient = leaf.grad(loss.backward({.create_graph = true}));
  const auto second = leaf.grad(gradient->sum().backward());
  EXPECT_EQ(second->to_data().to_vec<float>()[3], 4);
}

TEST_F(SparseGradients, AccumulateWithOthers) {
  const auto all = batches(3);
  const auto sum = [&](std::vector<bool> sparse) {
    Words model = words();
    GradientsAccumulator accumulator;
    for (std::size_t i = 0; i < sparse.size(); ++i) {
      model.table.sparse = sparse[i];
      accumulator.accumulate(gradients_of(model, all[i]));
    }
    return accumulator.grads().get(model.table.weight)->to_data().to_vec_as<double>();
  };
  const auto want = sum({false, false, false});
  for (const auto& kinds :
       {std::vector{true, true, true}, {true, true, false}, {false, true, true}, {true, false, true}})
    EXPECT_THAT(sum(kinds), Pointwise(IsNear(1e-6), want));
}

TEST_F(SparseGradients, HaveTheNormOfTheirSums) {
  const auto batch = batches(1)[0];
  const auto clipped = [&](bool sparse) {
    const Words model = words(sparse);
    auto gradients = gradients_of(model, batch);
    const double norm = gradients.clip_norm(0.25).item();
    auto all = gradients.get(model.table.weight)->to_data().to_vec_as<double>();
    all.push_back(norm);
    return all;
  };
  EXPECT_THAT(clipped(true), Pointwise(IsNear(1e-6), clipped(false)));
  for (const auto& clipping : {optim::GradientClippingConfig{.norm = 0.25}, {.value = 0.1}})
    expect_as_dense(optim::SgdConfig{.grad_clipping = clipping}, batches(10), 1e-6);
}

TEST_F(SparseGradients, OfAScaledLossAreUnscaled) {
  const auto batch = batches(1)[0];
  auto scaler = optim::GradScalerConfig{.initial = 1024}.init(device);
  auto optim = optim::AdamConfig{}.init<Words>(), plain = optim;
  Words model = words(), other = words();
  const auto scaled_step = [&](float factor) {
    const auto loss = scaler.scale(loss_of(model, batch) * factor);
    auto gradients = scaler.unscale(GradientsParams::from_grads(loss.backward(), model));
    model = optim.step(0.1, std::move(model), std::move(gradients));
  };
  scaled_step(1);
  other = step(plain, std::move(other), batch);
  EXPECT_THAT(model.numbers(), Pointwise(IsNear(1e-6), other.numbers()));

  const auto before = model.numbers();
  const auto moments = [&] { return optim.to_record(model).get("table.weight/moment_2").to_vec_as<double>(); };
  const auto moments_before = moments();
  for (int i = 0; i < 2; ++i) scaled_step(std::numeric_limits<float>::infinity());
  EXPECT_EQ(model.numbers(), before);
  EXPECT_EQ(moments(), moments_before);
  EXPECT_EQ(scaler.factor().item(), 256);
}

TEST_F(SparseGradients, OfARowThatIsNotThereAreAnError) {
  auto optim = optim::SgdConfig{}.init<Words>();
  const Words model = step(optim, words(), {{1, 7}, {1, 1, 1, 1, 1, 1}});
  EXPECT_THAT(error_of([&] { model.numbers(); }), HasSubstr("index 7 is outside 0..6"));
}

TEST_F(SparseGradients, AreAskedForInAConfiguration) {
  const auto net = nn::EmbeddingConfig{.n_embedding = 5, .d_model = 2, .sparse = true}.init(device);
  EXPECT_TRUE(net.sparse);
  EXPECT_FALSE((nn::EmbeddingConfig{.n_embedding = 5, .d_model = 2}.init(device).sparse));
  const auto gradients =
      GradientsParams::from_grads(net(Tensor<2, Int>::from_data({{1, 4}, {0, 4}}, device)).sum().backward(), net);
  EXPECT_EQ(gradients.get_sparse(net.weight.id())->rows.shape(), (ir::Shape{4, 2}));
}

}  // namespace
}  // namespace burn
