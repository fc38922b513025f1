// Sparse gradients of tables: their contents, and how they are processed before an optimizer gets them.
#include "tests/train/sparse_gradients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/present.h"

namespace burn {
namespace {

using test::present;

TEST_F(SparseGradients, AreDenseWhereATensorIsAskedFor) {
  const auto batch = batches(1)[0];
  const Words sparse = words(), dense = words(false);
  const auto want = present(gradients_of(dense, batch).get(dense.table.weight));
  const auto got = gradients_of(sparse, batch);
  EXPECT_TRUE(got.get_sparse(sparse.table.weight.id()).has_value());
  EXPECT_EQ(got.size(), 1u);
  EXPECT_EQ(present(got.get(sparse.table.weight)).to_data().to_vec<float>(), want.to_data().to_vec<float>());
  const auto leaf = sparse.table.weight.val();
  auto by_leaf = loss_of(sparse, batch).backward();
  EXPECT_EQ(by_leaf.size(), 1u);
  EXPECT_EQ(present(leaf.grad(by_leaf)).to_data().to_vec<float>(), want.to_data().to_vec<float>());
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
    return present(gradients.get(model.table.weight)).to_data().to_vec_as<double>();
  };
  for (const bool is_tied : {false, true})
    EXPECT_THAT(gradient(true, is_tied), Pointwise(IsNear(1e-6), gradient(false, is_tied)));
}

TEST_F(SparseGradients, OfASelectedParameterHaveItsRows) {
  const Param<3> table{Tensor<3>::ones({4, 2, 3}, device)};
  const auto index = Tensor<1, Int>::from_data({3, 1, 3}, device);
  auto gradients = module::select_sparse(table.val(), index).sum().backward();
  const auto sparse = present(gradients.remove_sparse(table.val().value()));
  EXPECT_EQ(sparse.rows.shape(), (ir::Shape{3, 2, 3}));
  EXPECT_EQ(sparse.shape, (ir::Shape{4, 2, 3}));
  EXPECT_EQ((Tensor<1, Int>{sparse.index}.to_data().to_vec<std::int64_t>()), (std::vector<std::int64_t>{3, 1, 3}));
  // A computed table has a dense gradient, which is passed on to the values that it is computed from.
  const auto doubled = module::select_sparse(table.val() * 2, index).sum().backward();
  EXPECT_EQ(present(table.val().grad(doubled)).sum().item(), 36);
}

TEST_F(SparseGradients, AreDenseWhereTheGraphIsKeptForMore) {
  const Words model = words();
  const auto leaf = model.table.weight.val();
  const auto loss = model.table(Tensor<1, Int>::from_data({1, 1}, device)).powi(2).sum();
  const auto gradient = leaf.grad(loss.backward({.create_graph = true}));
  const auto second = leaf.grad(present(gradient).sum().backward());
  EXPECT_EQ(present(second).to_data().to_vec<float>()[3], 4);
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
    auto all = present(gradients.get(model.table.weight)).to_data().to_vec_as<double>();
    all.push_back(norm);
    return all;
  };
  EXPECT_THAT(clipped(true), Pointwise(IsNear(1e-6), clipped(false)));
  for (const auto& clipping : {optim::GradientClippingConfig{.norm = 0.25}, {.value = 0.1}})
    expect_same_as_dense(optim::SgdConfig{.grad_clipping = clipping}, batches(10), 1e-6);
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
  EXPECT_EQ(present(gradients.get_sparse(net.weight.id())).rows.shape(), (ir::Shape{4, 2}));
}

}  // namespace
}  // namespace burn
