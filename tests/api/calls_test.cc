// Calls every method and function of the tensor API once, as a user does, through <burn/burn.h>. The main check is that
// it compiles; the shapes of the results are checked, too. names_test.cc checks that this file calls every name of
// tests/api/names.txt.
#include <cmath>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "burn/burn.h"

namespace burn {
namespace {

template <int D, Kind K>
std::vector<std::int64_t> sizes(const Tensor<D, K>& x) {
  const auto dims = x.dims();
  (void)x.to_data();  // checks that it can be computed
  return {dims.begin(), dims.end()};
}
template <typename A, typename B>
std::vector<std::int64_t> sizes(const std::pair<A, B>& both) {
  EXPECT_EQ(both.first.shape(), both.second.shape());
  return sizes(both.first);
}
using Sizes = std::vector<std::int64_t>;

TEST(EveryMethod, ThatMakesTensors) {
  const Device device{"cpu"};
  const auto x = Tensor<2>::empty({2, 3}, "cpu");
  EXPECT_EQ(sizes(Tensor<2>::empty_like(x)), (Sizes{2, 3}));
  EXPECT_EQ(Tensor<2>::zeros({2, 3}, {device, DType::f16}).dtype(), DType::f16);
  EXPECT_EQ(Tensor<2>::zeros_like(x).sum().item(), 0);
  EXPECT_EQ(Tensor<2>::ones({2, 3}, device).sum().item(), 6);
  EXPECT_EQ(Tensor<2>::ones_like(x).sum().item(), 6);
  EXPECT_EQ(Tensor<2>::full({2, 3}, 0.5, std::string{"cpu"}).sum().item(), 3);
  EXPECT_EQ(Tensor<2>::full_like(x, 2).sum().item(), 12);
  EXPECT_EQ(sizes(Tensor<2>::from_data({{1, 2}, {3, 4}}, "cpu")), (Sizes{2, 2}));
  EXPECT_EQ(sizes(Tensor<2>::from_floats({{1, 2}}, "cpu")), (Sizes{1, 2}));
  EXPECT_EQ((Tensor<1, Int>::from_ints({1, 2}, "cpu").dtype()), DType::i64);
  EXPECT_EQ((Tensor<1, Bool>::from_bool(TensorData(std::vector<bool>{true}, {1}), "cpu").dtype()), DType::bool_);
  EXPECT_EQ(sizes(Tensor<2>::random({2, 3}, Distribution::normal(0, 1), "cpu")), (Sizes{2, 3}));
  EXPECT_EQ(sizes(x.random_like(Distribution::bernoulli(0.5))), (Sizes{2, 3}));
  EXPECT_EQ(sizes(Tensor<1, Int>::arange(0, 8, "cpu")), (Sizes{8}));
  EXPECT_EQ(sizes(Tensor<1, Int>::arange_step(0, 8, 3, "cpu")), (Sizes{3}));
  EXPECT_EQ(Tensor<2>::eye(3, "cpu").sum().item(), 3);
  EXPECT_EQ(sizes(Tensor<1, Int>::cartesian_grid<3>({2, 3}, "cpu")), (Sizes{2, 3, 2}));
  EXPECT_EQ((Tensor<2, Bool>::tril_mask({3, 3}, 0, "cpu").to_int().sum().item()), 3);
  EXPECT_EQ((Tensor<2, Bool>::triu_mask({3, 3}, 0, "cpu").to_int().sum().item()), 3);
  EXPECT_EQ((Tensor<2, Bool>::diag_mask({3, 3}, 0, "cpu").to_int().sum().item()), 6);
  const auto classes = Tensor<1, Int>::arange(0, 3, "cpu");
  EXPECT_EQ(sizes(classes.one_hot(4)), (Sizes{3, 4}));
  EXPECT_EQ(sizes(classes.one_hot_fill(4, 5, -1, 0)), (Sizes{4, 3}));
}

TEST(EveryMethod, ThatDescribesOrReads) {
  auto x = Tensor<2>::from_data({{1, 2}, {3, 4}}, "cpu");
  EXPECT_EQ(x.rank(), 2);
  EXPECT_EQ(x.dtype(), DType::f32);
  EXPECT_EQ(x.dims()[1], 2);
  EXPECT_EQ(x.shape(), (ir::Shape{2, 2}));
  EXPECT_EQ(x.num_elements(), 4);
  EXPECT_EQ(x.device(), Device{"cpu"});
  EXPECT_EQ(x.to_device("cpu").device(), x.device());
  EXPECT_FALSE(Tensor<2>{x}.can_mut());
  EXPECT_TRUE(x.exp().can_mut());
  EXPECT_EQ(x.to_data().num_elements(), 4);
  EXPECT_EQ(x.into_data(), x.to_data());
  EXPECT_EQ(x.to_data_async().get(), x.to_data());
  EXPECT_EQ(x.into_data_async().get(), x.to_data());
  EXPECT_EQ(x.to_data_as<double>().dtype(), DType::f64);
  EXPECT_EQ(x.into_data_as<double>().dtype(), DType::f64);
  EXPECT_EQ(x.to_data_dtype(DType::f16).dtype(), DType::f16);
  EXPECT_EQ(x.into_data_dtype(DType::i32).dtype(), DType::i32);
  EXPECT_TRUE(x.try_to_data().ok());
  EXPECT_TRUE(x.try_into_data().ok());
  EXPECT_TRUE(x.try_to_data_as<double>().ok());
  EXPECT_TRUE(x.try_into_data_as<double>().ok());
  EXPECT_TRUE(x.try_to_data_dtype(DType::u8).ok());
  EXPECT_TRUE(x.try_into_data_dtype(DType::u8).ok());
  EXPECT_EQ(x.to_vec_as<float>(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(x.try_to_vec_as<int>()->at(3), 4);
  EXPECT_EQ(x.try_into_vec_as<int>()->at(3), 4);
  EXPECT_EQ(x.max().into_scalar(), 4);
  EXPECT_EQ(x.max().item<int>(), 4);
  EXPECT_EQ(x.max().into_scalar_async().get(), 4);
  EXPECT_EQ(*x.max().try_into_scalar(), 4);
  EXPECT_FALSE(x.try_into_scalar().ok());
  EXPECT_EQ(*x.max().try_into_scalar_async().get(), 4);
  EXPECT_FALSE(x.try_into_scalar_async().get().ok());
  std::ostringstream text;
  set_print_options({.threshold = 1000, .edge_items = 3, .precision = 4});
  text << x;
  EXPECT_NE(text.str().find("[[1., 2.]"), std::string::npos);
  x.inplace([](Tensor<2> taken) { return taken + 1; });
  EXPECT_EQ(x.sum().item(), 14);
  EXPECT_TRUE(x.extract().has_value());
  EXPECT_FALSE(x.value().has_value());
}

TEST(EveryMethod, OfShape) {
  const auto x = Tensor<3>::ones({2, 1, 4}, "cpu");
  const auto m = Tensor<2>::ones({4, 6}, "cpu");
  EXPECT_EQ(sizes(x.reshape<2>({-1, 4})), (Sizes{2, 4}));
  EXPECT_EQ(sizes(x.transpose()), (Sizes{2, 4, 1}));
  EXPECT_EQ(sizes(x.t()), (Sizes{2, 4, 1}));
  EXPECT_EQ(sizes(x.swap_dims(0, 2)), (Sizes{4, 1, 2}));
  EXPECT_EQ(sizes(x.permute({2, 0, 1})), (Sizes{4, 2, 1}));
  EXPECT_EQ(sizes(x.movedim(0, -1)), (Sizes{1, 4, 2}));
  EXPECT_EQ(sizes(x.movedim({0, 2}, {2, 0})), (Sizes{4, 1, 2}));
  EXPECT_EQ(sizes(x.flip({0})), (Sizes{2, 1, 4}));
  EXPECT_EQ(sizes(x.batched(2)), (Sizes{2, 1, 4}));
  EXPECT_EQ(sizes(x.roll({1, 2}, {0, 2})), (Sizes{2, 1, 4}));
  EXPECT_EQ(sizes(x.roll_dim(1, 0)), (Sizes{2, 1, 4}));
  EXPECT_EQ(sizes(x.flatten<2>(0, 1)), (Sizes{2, 4}));
  EXPECT_EQ(sizes(x.squeeze()), (Sizes{2, 4}));
  EXPECT_EQ(sizes(x.squeeze<2>()), (Sizes{2, 4}));
  EXPECT_EQ(sizes(x.squeeze_dim(1)), (Sizes{2, 4}));
  EXPECT_EQ(sizes(x.squeeze_dims<2>({1})), (Sizes{2, 4}));
  EXPECT_EQ(sizes(x.unsqueeze<4>()), (Sizes{1, 2, 1, 4}));
  EXPECT_EQ(sizes(x.unsqueeze_dim(0)), (Sizes{1, 2, 1, 4}));
  EXPECT_EQ(sizes(x.unsqueeze_dims<5>({0, -1})), (Sizes{1, 2, 1, 4, 1}));
  EXPECT_EQ(sizes(x.expand<3>({2, 3, -1})), (Sizes{2, 3, 4}));
  EXPECT_EQ(sizes(x.repeat({1, 2, 3})), (Sizes{2, 2, 12}));
  EXPECT_EQ(sizes(x.repeat_dim(0, 3)), (Sizes{6, 1, 4}));
  EXPECT_EQ(sizes(x.unfold(2, 3, 1)), (Sizes{2, 1, 2, 3}));
  EXPECT_EQ(sizes(m.pad({{1, 1}}, 0.5)), (Sizes{4, 8}));
  EXPECT_EQ(sizes(m.pad({{1, 1}, {0, 2}}, PadMode::reflect())), (Sizes{6, 8}));
  EXPECT_EQ(sizes(m.pad({{1, 1}, {0, 2}}, PadMode::edge())), (Sizes{6, 8}));
  EXPECT_EQ(m.triu(0).sum().item(), 18);
  EXPECT_EQ(m.tril(-1).sum().item(), 6);
  EXPECT_EQ(sizes(Tensor<2>::cat({m, m}, 0)), (Sizes{8, 6}));
  EXPECT_EQ(sizes(Tensor<2>::stack({m, m}, 0)), (Sizes{2, 4, 6}));
  EXPECT_EQ(sizes(m.narrow(0, 1, 2)), (Sizes{2, 6}));
  EXPECT_EQ(m.chunk(3, 0).size(), 2u);
  EXPECT_EQ(m.split(3, 0).size(), 2u);
  EXPECT_EQ(sizes(m.split_with_sizes({1, 3}, 0)[1]), (Sizes{3, 6}));
  EXPECT_EQ(m.iter_dim(0).size(), 4u);
}

TEST(EveryMethod, OfPlaces) {
  const auto x = Tensor<2>::from_data({{1, 2}, {3, 4}, {5, 6}}, "cpu");
  const auto one = Tensor<1, Int>::from_ints({1}, "cpu");
  const auto mask = x > 2.5;
  EXPECT_EQ(sizes(x.slice({s(0, 2), s(1)})), (Sizes{2, 1}));
  EXPECT_EQ(sizes(x.slice_dim(0, s(0, 2))), (Sizes{2, 2}));
  EXPECT_EQ(x.slice_assign({s(0, 1)}, x.slice({s(2, 3)})).sum().item(), 29);
  EXPECT_EQ(x.slice_fill({s(0, 2)}, 0).sum().item(), 11);
  EXPECT_EQ(x.select_dim(0, -1).sum().item(), 11);
  EXPECT_EQ(x[1][0].item(), 3);
  EXPECT_EQ(x.select(0, one).sum().item(), 7);
  EXPECT_EQ(x.select_assign(0, one, x.slice({s(0, 1)}), IndexingUpdateOp::assign).sum().item(), 17);
  const auto places = Tensor<2, Int>::zeros({1, 2}, "cpu");
  EXPECT_EQ(x.gather(0, places).sum().item(), 3);
  EXPECT_EQ(x.scatter(0, places, Tensor<2>::ones({1, 2}, "cpu"), IndexingUpdateOp::mul).sum().item(), 21);
  EXPECT_EQ(sizes(x.take(1, places)), (Sizes{3, 1, 2}));
  EXPECT_EQ(x.gather_nd<1>(places).item(), 1);
  EXPECT_EQ(x.scatter_nd(places, Tensor<1>::from_data({9}, "cpu"), IndexingUpdateOp::max).max().item(), 9);
  EXPECT_EQ(x.mask_where(mask, -x).sum().item(), -15);
  EXPECT_EQ(x.mask_fill(mask, 0).sum().item(), 3);
  EXPECT_EQ(sizes(x.mask_select(mask)), (Sizes{4}));
  EXPECT_EQ(sizes(x.mask_select_async(mask).get()), (Sizes{4}));
  EXPECT_EQ(mask.nonzero().size(), 2u);
  EXPECT_EQ(mask.nonzero_async().get().size(), 2u);
  EXPECT_EQ(sizes(mask.argwhere()), (Sizes{4, 2}));
  EXPECT_EQ(sizes(mask.argwhere_async().get()), (Sizes{4, 2}));
}

TEST(EveryMethod, OfArithmetic) {
  const auto x = Tensor<1>::from_data({0.5, 1, 2}, "cpu"), y = Tensor<1>::from_data({2, 1, 0.5}, "cpu");
  Tensor<1> z = x.add(y).sub(y).mul(y).div(y);
  z += y, z -= 1, z *= 2.0, z /= y, z %= y;
  for (const auto& each : {x.add(1),       x.sub(1),       x.mul(2),      x.div(2),      x.remainder(y), x.remainder(2),
                           x.fmod(y),      x.fmod(2),      x.powf(y),     x.powf(0.5),   x.powi(2),      x.neg(),
                           x.abs(),        x.sign(),       x.square(),    x.sqrt(),      x.recip(),      x.exp(),
                           x.log(),        x.log1p(),      x.erf(),       x.hypot(y),    x.sin(),        x.cos(),
                           x.tan(),        x.sinh(),       x.cosh(),      x.tanh(),      x.asin(),       x.acos(),
                           x.atan(),       x.asinh(),      x.acosh(),     x.atanh(),     x.atan2(y),     x.deg2rad(),
                           x.rad2deg(),    x.round(),      x.floor(),     x.ceil(),      x.trunc(),      x.clamp(0, 1),
                           x.clamp_min(1), x.clamp_max(1), x.max_pair(y), x.min_pair(y), x.cross(y, 0),  -x,
                           x + y,          x - 1,          2 * x,         1 / x,         x % 2,          z}) {
    EXPECT_EQ(sizes(each), (Sizes{3}));
  }
  EXPECT_EQ(x.dot(y).item(), 3);
  const auto m = Tensor<2>::ones({2, 3}, "cpu");
  EXPECT_EQ(sizes(m.matmul(m.t())), (Sizes{2, 2}));
  EXPECT_EQ(sizes(einsum<2>("ij,kj->ik", m, m)), (Sizes{2, 2}));
  const auto bits = Tensor<1, Int>::from_ints({5, 3}, "cpu");
  EXPECT_EQ(bits.bitwise_and(6).sum().item(), 6);
  EXPECT_EQ(bits.bitwise_or(bits).sum().item(), 8);
  EXPECT_EQ(bits.bitwise_xor(1).sum().item(), 6);
  EXPECT_EQ(bits.bitwise_not().sum().item(), -10);
  EXPECT_EQ(bits.bitwise_left_shift(1).sum().item(), 16);
  EXPECT_EQ(bits.bitwise_right_shift(1).sum().item(), 3);
}

TEST(EveryMethod, OfLogic) {
  const auto x = Tensor<1>::from_data({1, 2}, "cpu"), y = Tensor<1>::from_data({2, 2}, "cpu");
  for (const auto& each : {x.equal(y), x.equal(2), x.not_equal(y), x.not_equal(2), x.greater(y), x.greater_equal(2),
                           x.lower(y), x.lower_equal(2), x > y, x >= 1, x < y, x <= 1, x.is_close(y), x.is_nan(),
                           x.is_inf(), x.is_finite(), x.any_dim(0).expand<1>({2}), x.all_dim(0).expand<1>({2})}) {
    EXPECT_EQ(sizes(each), (Sizes{2}));
  }
  EXPECT_TRUE(x.all_close(x));
  EXPECT_FALSE(x.contains_nan().item());
  EXPECT_TRUE(x.any().item());
  EXPECT_TRUE(x.all().item());
  const auto a = x.equal(y), b = x.lower(y);
  EXPECT_TRUE((a.bool_not().equal(b) & !a.bool_and(b) & (a | b) & a.bool_or(b) & (a ^ b) & a.bool_xor(b)).all().item());
}

TEST(EveryMethod, AlongAxes) {
  const auto x = Tensor<2>::from_data({{1, -2, 3}, {4, 5, -6}}, "cpu");
  for (const auto& each : {x.sum(), x.mean(), x.prod(), x.max(), x.min(), x.max_abs()})
    EXPECT_EQ(sizes(each), (Sizes{1}));
  EXPECT_EQ(sizes(x.sum_dims_squeeze<1>({0})), (Sizes{3}));
  for (const auto& each : {x.sum_dim(1), x.mean_dim(1), x.prod_dim(1), x.max_dim(1), x.min_dim(1), x.max_abs_dim(1),
                           x.sum_dims({1}), x.mean_dims({1}), x.prod_dims({1}), x.max_dims({1}), x.min_dims({1}),
                           x.max_abs_dims({1}), x.var(1), x.var_bias(1), x.median(1), x.logsumexp(1)}) {
    EXPECT_EQ(sizes(each), (Sizes{2, 1}));
  }
  for (const auto& each : {x.argmax(1), x.argmin(1)}) EXPECT_EQ(sizes(each), (Sizes{2, 1}));
  for (const auto& each : {x.max_dim_with_indices(1), x.min_dim_with_indices(1), x.median_with_indices(1)})
    EXPECT_EQ(sizes(each), (Sizes{2, 1}));
  for (const auto& each : {x.var_mean(1), x.var_mean_bias(1)}) EXPECT_EQ(sizes(each), (Sizes{2, 1}));
  EXPECT_EQ(sizes(x.cov(0)), (Sizes{3, 3}));
  for (const auto& each :
       {x.cumsum(1), x.cumprod(1), x.cummax(1), x.cummin(1), x.logcumsumexp(1), x.sort(1), x.sort_descending(1)}) {
    EXPECT_EQ(sizes(each), (Sizes{2, 3}));
  }
  for (const auto& each : {x.sort_with_indices(1), x.sort_descending_with_indices(1)})
    EXPECT_EQ(sizes(each), (Sizes{2, 3}));
  for (const auto& each : {x.argsort(1), x.argsort_descending(1)}) EXPECT_EQ(sizes(each), (Sizes{2, 3}));
  EXPECT_EQ(sizes(x.topk(2, 1)), (Sizes{2, 2}));
  EXPECT_EQ(sizes(x.topk_with_indices(2, 1)), (Sizes{2, 2}));
  EXPECT_EQ(sizes(x.argtopk(2, 1)), (Sizes{2, 2}));
  EXPECT_EQ(sizes(x.abs().categorical(5)), (Sizes{2, 5}));
  EXPECT_EQ(sizes(x.abs().multinomial(2)), (Sizes{2, 2}));
  EXPECT_EQ(x.to_int().dtype(), DType::i64);
  EXPECT_EQ(x.to_int(DType::u8).to_float().dtype(), DType::f32);
  EXPECT_EQ(x.to_bool().dtype(), DType::bool_);
  EXPECT_EQ(x.cast(DType::f16).dtype(), DType::f16);
}

TEST(EveryMethod, OfGradients) {
  const Device device = Device{"cpu"}.autodiff();
  const auto x = Tensor<1>::from_data({1, 2}, device).require_grad();
  EXPECT_TRUE(x.is_require_grad());
  EXPECT_FALSE(x.set_require_grad(false).is_require_grad());
  EXPECT_FALSE(x.detach().is_require_grad());
  EXPECT_FALSE(x.no_grad().is_require_grad());
  EXPECT_FALSE(x.inner().device().is_autodiff());
  EXPECT_TRUE(Tensor<1>::from_inner(x.inner()).device().is_autodiff());
  auto gradients = x.square().sum().backward();
  EXPECT_EQ(x.grad(gradients)->sum().item(), 6);
  x.grad_replace(gradients, Tensor<1>::ones({2}, "cpu"));
  EXPECT_EQ(x.grad_remove(gradients)->sum().item(), 2);
  EXPECT_FALSE(x.grad(gradients).has_value());
}

TEST(EveryFunction, OfSeveralTensors) {
  const auto x = Tensor<1>::from_data({1, 2}, "cpu"), y = Tensor<1>::from_data({3, 4}, "cpu");
  auto transaction = Transaction{};
  transaction.add(x).add(y.sum());
  const auto data = transaction.execute();
  EXPECT_EQ(data.at(1).to_vec<float>(), (std::vector<float>{7}));
  EXPECT_EQ(transaction.add(x).try_execute()->size(), 1u);
  EXPECT_EQ(transaction.add(x).execute_async().get().size(), 1u);
  check_closeness(x, y);
  EXPECT_EQ(sizes(cartesian_grid<2>({2, 3}, "cpu")), (Sizes{2, 3, 2}));
  const auto [across, down] = grid::meshgrid(std::array{x, y}, {.indexing = grid::Indexing::cartesian});
  EXPECT_EQ(sizes(across), sizes(down));
  EXPECT_EQ(sizes(grid::meshgrid_stack(std::array{x, y}, grid::IndexPos::first)), (Sizes{2, 2, 2}));
}

TEST(EveryMethod, ThatSamplesAnImageOrSparesMemory) {
  const auto image = Tensor<4>::ones({1, 1, 2, 2}, "cpu");
  EXPECT_EQ(sizes(image.grid_sample_2d(Tensor<4>::zeros({1, 3, 1, 2}, "cpu"), {})), (Sizes{1, 1, 3, 1}));
  const auto x = Tensor<1>::ones({2}, Device{"cpu"}.autodiff()).require_grad();
  const auto loss = (x * x).sum().with_gradient_checkpointing_strategy(GradientCheckpointingStrategy::balanced);
  EXPECT_EQ(x.grad(loss.backward())->sum().item(), 4);
}

TEST(EveryMethod, OfNamedTensors) {
  const auto n = named<"batch", "time">(Tensor<2>::ones({2, 3}, "cpu"));
  EXPECT_EQ(n.into_tensor().sum().item(), 6);
  EXPECT_EQ(n.dim<"time">(), 3);
  const auto m = n.rename<"batch", "other">().swap_dims<"other", "time">();
  EXPECT_EQ(sizes(n.matmul(m).tensor()), (Sizes{2, 2}));
  EXPECT_EQ(sizes(n.permute<"time", "batch">().tensor()), (Sizes{3, 2}));
  EXPECT_EQ(sizes(n.reshape<"all">({-1}).tensor()), (Sizes{6}));
  EXPECT_EQ(sizes(n.sum_dim<"time">().tensor()), (Sizes{2, 1}));
  EXPECT_EQ(sizes(n.sum_dims_squeeze<"time">().tensor()), (Sizes{2}));
  EXPECT_EQ(sizes(n.softmax<"time">().tensor()), (Sizes{2, 3}));
  const auto running = n.map_dim<"time">([](const auto& x, int dim) { return x.cumsum(dim); });
  EXPECT_EQ(sizes(running.tensor()), (Sizes{2, 3}));
}

TEST(EveryMethod, OfTensorData) {
  auto data = TensorData(std::vector{1.f, 2.f}, {2});
  EXPECT_EQ(TensorData::from_bytes(data.into_bytes(), {2}, DType::f32), data);
  const auto bytes = data.as_bytes();
  EXPECT_EQ(TensorData::from_bytes_vec({bytes.begin(), bytes.end()}, {2}, DType::f32), data);
  EXPECT_EQ(TensorData::random({2, 3}, Distribution::uniform(0, 1), 1).rank(), 2);
  EXPECT_EQ(TensorData::zeros({2, 3}).num_elements(), 6u);
  EXPECT_EQ(TensorData::ones({2}).to_vec<float>()[0], 1);
  EXPECT_EQ(TensorData::full({2}, 0.5f).as_slice<float>()[1], 0.5);
  EXPECT_EQ(TensorData::full_dtype({2}, 0.5, DType::f16).dtype(), DType::f16);
  const auto before = data;
  data.as_mut_slice<float>()[0] = 5;
  data.mut_view<float>()[1] = 6;
  EXPECT_EQ(data.view<float>()[0], 5);
  EXPECT_EQ(before.into_vec<float>(), (std::vector<float>{1, 2}));
  EXPECT_TRUE(data.try_to_vec<float>().ok());
  EXPECT_FALSE(data.try_into_vec<double>().ok());
  EXPECT_EQ(data.to_vec_as<double>()[1], 6);
  EXPECT_EQ(data.iter<int>().size(), 2u);
  EXPECT_EQ(data.convert<double>().dtype(), DType::f64);
  EXPECT_EQ(data.convert_dtype(DType::u8).dtype(), DType::u8);
  EXPECT_TRUE(data.try_cast(DType::u8).ok());
  EXPECT_FALSE(TensorData::full({1}, 256.f).try_cast_as<std::uint8_t>().ok());
  data.assert_eq(data);
  data.assert_approx_eq(data, {});
  data.assert_within_range(5, 7);
  data.assert_within_range_inclusive(5, 6);
  EXPECT_THROW(data.assert_within_range(5, 6), Error);
}

TEST(EveryFunction, OfLinearAlgebra) {
  const auto x = Tensor<3>::ones({2, 3, 4}, "cpu");
  EXPECT_EQ(sizes(linalg::vector_norm(x, 2, 1)), (Sizes{2, 1, 4}));
  EXPECT_EQ(sizes(linalg::vector_normalize(x, 2, 1)), (Sizes{2, 3, 4}));
  EXPECT_EQ(sizes(linalg::cosine_similarity(x, x, 1)), (Sizes{2, 1, 4}));
  EXPECT_EQ(sizes(linalg::diag(x)), (Sizes{2, 3}));
  EXPECT_EQ(sizes(linalg::trace(x)), (Sizes{2, 1}));
  EXPECT_EQ(sizes(linalg::outer(x, x)), (Sizes{2, 3, 4, 4}));
  EXPECT_EQ(sizes(linalg::matvec(x, Tensor<2>::ones({2, 4}, "cpu"))), (Sizes{2, 3}));
  const auto a = Tensor<3>::from_data({{{4, 1}, {1, 3}}}, "cpu"), b = Tensor<3>::ones({1, 2, 5}, "cpu");
  EXPECT_EQ(sizes(std::get<1>(linalg::lu(a))), (Sizes{1, 2, 2}));
  EXPECT_EQ(sizes(linalg::qr(a)), (Sizes{1, 2, 2}));
  EXPECT_EQ(sizes(linalg::cholesky(a)), (Sizes{1, 2, 2}));
  EXPECT_EQ(sizes(std::get<1>(linalg::svd(a))), (Sizes{1, 2}));
  EXPECT_EQ(sizes(linalg::eigh(a).first), (Sizes{1, 2}));
  EXPECT_EQ(sizes(linalg::solve(a, b)), (Sizes{1, 2, 5}));
  const auto fit = linalg::lstsq(a, b);
  EXPECT_EQ(sizes(fit.solution), (Sizes{1, 2, 5}));
  EXPECT_EQ(sizes(fit.residuals), (Sizes{1, 5}));
  EXPECT_EQ(sizes(linalg::inverse(a)), (Sizes{1, 2, 2}));
  EXPECT_EQ(sizes(linalg::pinv(x)), (Sizes{2, 4, 3}));
  EXPECT_NEAR(linalg::det(a).item(), 11, 1e-5);
  EXPECT_NEAR(linalg::slogdet(a).second.item(), std::log(11), 1e-5);
  EXPECT_EQ(sizes(linalg::matrix_power(a, 3)), (Sizes{1, 2, 2}));
  EXPECT_EQ(sizes(linalg::matrix_exp(a)), (Sizes{1, 2, 2}));
}

}  // namespace
}  // namespace burn
