// Optimizers of tables with sparse gradients: against a reference in doubles, and against dense gradients.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/train/sparse_gradients.h"

namespace burn {
namespace {

TEST_F(SparseGradients, OfSgdMoveTheRowsThatTheyHave) {
  expect_same_as_reference(optim::SgdConfig{}, [](Reference& reference, const Batch& batch) { reference.sgd(batch); });
}

TEST_F(SparseGradients, OfAdamAreSteppedAsSparseAdamDoes) {
  for (const double epsilon : {1e-5, 1e-2}) {
    expect_same_as_reference(optim::AdamConfig{.epsilon = epsilon},
                             [&](Reference& reference, const Batch& batch) { reference.adam(batch, epsilon); });
  }
}

TEST_F(SparseGradients, OfAdaGradMoveTheRowsThatTheyHave) {
  expect_same_as_reference(optim::AdaGradConfig{.lr_decay = 0.1},
                           [](Reference& reference, const Batch& batch) { reference.ada_grad(batch, 1e-5, 0.1); });
}

TEST_F(SparseGradients, AndDenseOnesAreTheSameToSgd) {
  expect_same_as_dense(optim::SgdConfig{}, batches(50), 1e-7);
  expect_same_as_dense(optim::SgdConfig{.momentum = optim::MomentumConfig{.nesterov = true}}, batches(50), 1e-7);
}

TEST_F(SparseGradients, OfAllRowsAreTheSameAsDenseOnes) {
  data::Rng rng{3};
  std::vector<Batch> all;
  all.reserve(50);
  for (int i = 0; i < 50; ++i) all.push_back(all_rows(rng));
  expect_same_as_dense(optim::AdamConfig{.epsilon = 0}, all, 1e-6);
  expect_same_as_dense(optim::AdaGradConfig{}, all, 1e-7);
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
    auto text = error_of([&] { model = optim.step(0.1, std::as_const(model), gradients); });
    EXPECT_EQ(model.numbers(), before);
    return text;
  };
  EXPECT_THAT(message(optim::AdamConfig{.weight_decay = 0.1}),
              AllOf(HasSubstr("step: adam takes no sparse gradient of table.weight, f32[7, 3]"),
                    HasSubstr("weight_decay"), HasSubstr("sparse_optimizers_test.cc:")));
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
      for (auto& g : batch.gradients) g = std::round(g * 16) / 16;  // exact in both dtypes
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
    auto loss = (net.table(index) * weights).sum();
    net = optim.step(lr, std::move(net), GradientsParams::from_grads(loss.backward(), net));
    return loss;
  });
  for (std::size_t i = 0; i < all.size(); i += 5) {
    model = step(recorded, std::move(model), all[i]);
    captured(other, replayed, all[i].index(device), all[i].weights(device), Scalar{0.1});
  }
  EXPECT_EQ(other.numbers(), model.numbers());
}

}  // namespace
}  // namespace burn
