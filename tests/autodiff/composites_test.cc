// Gradients of functions composed of other ops: against differences in f64, and at edges where a limit exists.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/ops/arrange.h"
#include "client/ops/einsum.h"
#include "client/ops/indices.h"
#include "client/ops/statistics.h"
#include "client/tensor/found.h"
#include "tests/autodiff/finite_differences.h"

namespace burn {
namespace {

using client::Value;
using test::spread;
using Numbers = std::vector<std::int64_t>;

const ir::CallSite kSite{};

Value indices(Numbers numbers, ir::Shape shape, const Value& like) {
  const TensorData data(std::move(numbers), shape);
  return client::from_data(data, {Device{like.device(), like.is_autodiff()}, DType::i64}, DType::i64);
}

void expect_both_orders(const std::function<Value(const Value&)>& f, const TensorData& at) {
  test::expect_both_orders([&](const auto& x) { return f(x[0]); }, {at});
}

TEST(CompositeGradients, OfArrangements) {
  const auto x = spread({3, 4}, -1, 1);
  const Numbers first{0}, last{-1}, shifts{1, -2}, both{0, 1};
  expect_both_orders([&](const Value& v) { return client::movedim(v, first, last, kSite); }, x);
  expect_both_orders([&](const Value& v) { return client::roll(v, shifts, both, kSite); }, x);
  expect_both_orders([&](const Value& v) { return client::unfold(v, 1, 3, 1, kSite); }, x);
  expect_both_orders([&](const Value& v) { return client::unfold(v, 1, 2, 2, kSite); }, x);
  for (const auto kind : {client::PadKind::constant, client::PadKind::reflect, client::PadKind::edge}) {
    expect_both_orders([&](const Value& v) { return client::pad_as(v, {{1, 2}, {2, 1}}, kind, 0.5, kSite); }, x);
  }
  expect_both_orders([&](const Value& v) { return client::triu(v, 1, kSite); }, x);
  expect_both_orders([&](const Value& v) { return client::tril(v, 0, kSite); }, x);
  expect_both_orders([&](const Value& v) { return client::select_dim(v, 0, -1, kSite); }, x);
  expect_both_orders([&](const Value& v) { return client::chunk(v, 3, 1, kSite)[1]; }, x);
}

TEST(CompositeGradients, OfPlaces) {
  const auto x = spread({3, 4}, -1, 1), values = spread({2}, 1.5, 2.5, 1);
  expect_both_orders([&](const Value& v) { return client::take(v, 1, indices({3, 0, 0, 1}, {2, 2}, v), kSite); }, x);
  expect_both_orders(
      [&](const Value& v) {
        return client::gather_nd(v, indices({2, 1, 0, 0, 2, 1}, {3, 2}, v), kSite);
      },
      x);
  for (const auto fn :
       {ir::ScatterFn::add, ir::ScatterFn::assign, ir::ScatterFn::mul, ir::ScatterFn::max, ir::ScatterFn::min}) {
    test::expect_both_orders(
        [&](const auto& in) {
          return client::scatter_nd(in[0], indices({2, 1, 0, 3}, {2, 2}, in[0]), in[1], fn, kSite);
        },
        {x, values});
  }
  expect_both_orders(
      [&](const Value& v) {
        const Value mask = client::pointwise(ir::PointwiseFn::greater, v.detach(), 0.1, kSite);
        return client::mask_select(v, client::find(mask, "mask_select", kSite));
      },
      x);
}

TEST(CompositeGradients, OfStatistics) {
  const auto x = spread({3, 5}, -2, 2);
  expect_both_orders([&](const Value& v) { return client::median(v, 1, kSite).values; }, x);
  expect_both_orders([&](const Value& v) { return client::extreme_with_indices(ir::ArgFn::max, v, 1, kSite).values; },
                     x);
  expect_both_orders([&](const Value& v) { return client::cov(v, 0, 1, kSite); }, x);
  expect_both_orders([&](const Value& v) { return client::logsumexp(v, 1, kSite); }, x);
  expect_both_orders([&](const Value& v) { return client::logcumsumexp(v, 1, kSite); }, x);
  expect_both_orders([&](const Value& v) { return client::max_abs(v, {1}, kSite); }, x);
  const auto a = spread({3, 2}, -2, 2), b = spread({3, 2}, -2, 2, 1);
  test::expect_both_orders([&](const auto& in) { return client::cross(in[0], in[1], 0, kSite); }, {a, b});
  test::expect_both_orders([&](const auto& in) { return client::cross(in[0], in[1], -1, kSite); },
                           {spread({2, 3}, -2, 2), spread({2, 3}, -2, 2, 1)});
  test::expect_both_orders([&](const auto& in) { return client::dot(in[0], in[1], kSite); },
                           {spread({4}, -2, 2), spread({4}, -2, 2, 1)});
}

TEST(CompositeGradients, OfEveryUpdateAtPlacesOfSeveralDims) {
  const auto x = spread({2, 3, 2}, -1, 1), values = spread({2, 2}, 1.5, 2.5, 1);
  for (const auto fn :
       {ir::ScatterFn::add, ir::ScatterFn::assign, ir::ScatterFn::mul, ir::ScatterFn::max, ir::ScatterFn::min}) {
    test::expect_both_orders(
        [&](const auto& in) {
          return client::scatter_nd(in[0], indices({1, 0, 0, 2}, {2, 2}, in[0]), in[1], fn, kSite);
        },
        {x, values});
    test::expect_both_orders(
        [&](const auto& in) {
          return client::select_assign(in[0], 1, indices({2, 0}, {2}, in[0]), in[1], fn, kSite);
        },
        {x, spread({2, 2, 2}, 1.5, 2.5, 1)});
  }
}

TEST(CompositeGradients, OfEinsum) {
  const auto a = spread({2, 3}, -1, 1), b = spread({3, 3}, -1, 1, 1), c = spread({2, 3}, -1, 1, 2);
  for (const char* equation : {"ij,jk,ik->ik", "ij,kk,ij->k", "...j,jk,ij->ik", "ij,jj,ij->"}) {
    test::expect_both_orders([&](const auto& in) { return client::einsum(equation, in, kSite); }, {a, b, c});
  }
}

// The gradient is the softmax of the inputs, so that equal inputs get equal shares.
TEST(CompositeGradients, OfExponentialSumsAtTheirEdges) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const auto gradient = [](const std::vector<double>& numbers, auto f) {
    const TensorData data(numbers, {static_cast<std::int64_t>(numbers.size())});
    const Value x = client::require_grad(test::value_of(data, Device{"cpu"}.autodiff()));
    const Value sum = client::reduce_all(ir::ReduceFn::sum, f(x), kSite);
    return client::to_data(*client::backward(sum, {}, kSite).get(x)).to_vec<double>();
  };
  const auto whole = [](const Value& x) { return client::logsumexp(x, 0, kSite); };
  const auto running = [](const Value& x) { return client::logcumsumexp(x, 0, kSite); };
  EXPECT_THAT(gradient({1, 1}, whole), ::testing::ElementsAre(0.5, 0.5));
  EXPECT_THAT(gradient({-kInf, -kInf}, whole), ::testing::Each(0));
  EXPECT_THAT(gradient({-kInf, 3}, whole), ::testing::ElementsAre(0, 1));
  EXPECT_THAT(gradient({1, 1}, running), ::testing::ElementsAre(1.5, 0.5));
  EXPECT_THAT(gradient({-kInf, -kInf, 2}, running), ::testing::ElementsAre(0, 0, 1));
}

}  // namespace
}  // namespace burn
